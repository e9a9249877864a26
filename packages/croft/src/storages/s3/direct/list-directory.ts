import type { DirectoryEntry } from '../../../core/files/files.ts';
import { inParallel } from '../../../lib/concurrency/in-parallel.ts';
import { isMarker, pathOfFileOrMarker } from '../layout/object-keys.ts';
import type { DirectObjects, ListedObject } from './direct-objects.ts';

type TimedEntry = DirectoryEntry & { readonly mtimeMs: number };

const atOnce = 32;

/**
 * Lists one directory of a bucket, sorted by name. Reads below a sub-directory only until one live object shows that it
 * exists.
 */
export async function listBucketDirectory(direct: DirectObjects, directory: string, limit: number) {
  const start = directory === '' ? 0 : directory.length + 1;
  const children = new Map<string, ListedObject | 'directory'>();
  // Skips the rest of a directory that is already known to exist.
  const skip = (key: string) => key.length > start && children.get(childOf(key, start)) === 'directory';
  for await (const object of direct.below(directory, { skip })) {
    const name = childOf(object.key, start);
    // The marker of the directory itself.
    if (name === '') continue;
    const isBelow = object.key.length > start + name.length;
    if (children.has(name) || (isBelow && !(await direct.isLive(object)))) continue;
    children.set(name, isBelow ? 'directory' : object);
    if (children.size > limit) break;
  }
  const entries: TimedEntry[] = [];
  await inParallel([...children].slice(0, limit), atOnce, async ([name, child]) => {
    const entry = await toEntry(direct, name, child);
    if (entry) entries.push(entry);
  });
  const byBytes = (one: TimedEntry, other: TimedEntry) =>
    Buffer.compare(Buffer.from(one.name), Buffer.from(other.name));
  return { entries: entries.sort(byBytes), cut: children.size > limit };
}

function childOf(key: string, start: number): string {
  const end = key.indexOf('/', start);
  return key.slice(start, end === -1 ? undefined : end);
}

/** `undefined` for a tombstone. */
async function toEntry(direct: DirectObjects, key: string, child: ListedObject | 'directory') {
  const name = nameOf(key);
  if (child === 'directory') return { name, kind: 'directory', size: 0, mtimeMs: 0 } as const;
  const seen = await direct.lookAt(child);
  if (!seen || isMarker(seen.key)) return undefined;
  const { size, mode } = seen;
  const mtimeMs = child.modifiedAt.getTime();
  if (seen.kind !== 'link') return { name, kind: 'file', size, mode, mtimeMs } as const;
  return { name, kind: 'link', size, mode, mtimeMs, target: (await direct.readTarget(seen)) ?? '' } as const;
}

/** Decodes the escapes of a key, so that the name is the one people know. */
function nameOf(key: string): string {
  return (pathOfFileOrMarker(key) ?? key).toWellFormed();
}
