import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { ObjectStore, PutCondition } from '../../core/objects.ts';
import { readBounded } from './read-bounded.ts';

const maxCommits = 200;
/** A commit of more does not name them, and the oldest go first: the head is read by everyone after every commit. */
const maxPaths = 2000;
const maxTries = 100;
const maxBytes = 8 << 20;

const HeadCommit = z.object({
  id: z.string(),
  version: z.number().int(),
  by: z.string(),
  at: z.string(),
  /** Keys below the namespace. `null`: more than can be named. */
  keys: z.array(z.string()).nullable(),
});
const Head = z.object({ version: z.number().int(), commits: z.array(HeadCommit) });
export type HeadCommit = z.output<typeof HeadCommit>;
export type Head = z.output<typeof Head>;

export interface SeenHead {
  readonly head: Head;
  readonly etag: string;
}

/** What one commit adds to the head. */
export interface NewCommit {
  readonly id: string;
  readonly by: string;
  readonly keys: readonly string[];
}

function headKey(namespace: string): string {
  return `.croft/${namespace}/head`;
}

/** `undefined`: nothing was ever committed here by Croft. */
export async function readHead(
  objects: ObjectStore,
  namespace: string,
  options: { unlessEtag?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<SeenHead | 'unchanged' | undefined> {
  const { unlessEtag, signal } = options;
  const found = await objects.get(headKey(namespace), {
    ...(unlessEtag === undefined ? {} : { unlessEtag }),
    ...(signal ? { signal } : {}),
  });
  if (found === undefined || found === 'unchanged') return found;
  if (found.size > maxBytes) {
    found.body.destroy();
    throw unreadable();
  }
  const parsed = Head.safeParse(parseJson(await readBounded(found.body, maxBytes)));
  if (!parsed.success) throw unreadable();
  return { head: parsed.data, etag: found.etag };
}

/**
 * Tells everybody of a commit, by compare and swap: whoever comes second reads again and adds to what is there then.
 * Safe to repeat with the same id, also after an answer that was lost.
 */
export async function advanceHead(
  objects: ObjectStore,
  namespace: string,
  commit: NewCommit,
  signal?: AbortSignal,
): Promise<SeenHead> {
  for (let tries = 0; tries < maxTries; tries++) {
    const seen = await readHead(objects, namespace, { signal });
    if (seen === 'unchanged') continue;
    if (seen?.head.commits.some(({ id }) => id === commit.id)) return seen;
    const head = withCommit(seen?.head, commit, new Date());
    const etag = await tryPut(objects, namespace, head, seen ? { etag: seen.etag } : 'absent', signal);
    if (etag !== undefined) return { head, etag };
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(20 * (tries + 1), 500)));
  }
  throw new AppError('E_STORAGE_UNAVAILABLE', 'too many others commit to this workspace at the same time');
}

async function tryPut(
  objects: ObjectStore,
  namespace: string,
  head: Head,
  expect: PutCondition,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const bytes = Buffer.from(JSON.stringify(head));
  const result = await objects.put(
    headKey(namespace),
    { size: bytes.length, open: () => bytes },
    { expect, contentType: 'application/json', signal },
  );
  return result === 'refused' ? undefined : result.etag;
}

export function withCommit(head: Head | undefined, { id, by, keys }: NewCommit, at: Date): Head {
  const version = (head?.version ?? 0) + 1;
  const named = keys.length > maxPaths ? null : [...keys];
  const all = [...(head?.commits ?? []), { id, version, by, at: at.toISOString(), keys: named }];
  let room = maxPaths;
  const isKept = ({ keys: those }: HeadCommit) => {
    room -= those?.length ?? 0;
    return room >= 0;
  };
  // The newest is always kept, whatever it takes.
  const kept = all.slice(-maxCommits).toReversed();
  const count = kept.findIndex((one) => !isKept(one));
  return { version, commits: kept.slice(0, count < 0 ? kept.length : Math.max(count, 1)).toReversed() };
}

/** The keys that changed after a version; `undefined` when the head does not go back that far. */
export function keysSince({ version, commits }: Head, seen: number, by: string): Set<string> | undefined {
  // A head that went back is one that somebody put there.
  if (version < seen) return undefined;
  const newer = commits.filter((commit) => commit.version > seen);
  if (newer.length < version - seen) return undefined;
  const others = newer.filter((commit) => commit.by !== by);
  if (others.some(({ keys }) => keys === null)) return undefined;
  return new Set(others.flatMap(({ keys }) => keys ?? []));
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function unreadable(): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    'the head of this workspace in the bucket was not written by Croft and cannot be read; the files are not touched. ' +
      'Remove the object head in .croft/<namespace> of the bucket: it is made again',
  );
}
