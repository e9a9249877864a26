import type { TreeEntry } from '../../core/history/tree.ts';
import type { ObjectHead } from '../../core/objects.ts';
import { type Ground, objectKey } from './ground.ts';
import type { Known } from './manifest.ts';
import { describeObject, toSecond } from './object-entries.ts';
import { type Held, hold } from './spool.ts';

/** An object as it is in the bucket, with its content. */
export interface Incoming {
  readonly key: string;
  readonly known: Known;
  readonly held: Held;
}

const maxTargetBytes = 4095;

/** `undefined`: there is none, or it is being removed. */
export async function fetchIncoming(
  ground: Pick<Ground, 'objects' | 'namespace' | 'spool'>,
  key: string,
  signal?: AbortSignal,
): Promise<Incoming | undefined> {
  const found = await ground.objects.get(objectKey(ground, key), signal ? { signal } : {});
  if (found === undefined || found === 'unchanged') return undefined;
  if (describeObject(found).kind === 'deleted') {
    found.body.destroy();
    return undefined;
  }
  const held = await hold(found.body, ground.spool);
  return { key, held, known: { ...entryOf(found, held), etag: found.etag, modifiedAt: toSecond(found.modifiedAt) } };
}

/** Of what really came, whatever the metadata says: another tool may have put new content under old metadata. */
function entryOf(found: ObjectHead, held: Held): TreeEntry {
  const { kind, mode, hash = '' } = describeObject(found);
  if (kind === 'directory') return { kind, mode, size: 0, hash };
  const { size } = held;
  if (kind === 'link' && isTarget(held)) return { kind, mode, size, hash: held.hash };
  return { kind: 'file', mode: kind === 'link' ? 0o644 : mode, size, hash: held.hash };
}

function isTarget(held: Held): boolean {
  const bytes = held.open();
  return Buffer.isBuffer(bytes) && bytes.length > 0 && bytes.length <= maxTargetBytes && !bytes.includes(0);
}

/** For `WorkingTree.apply`. */
export async function* piecesOf(held: Held): AsyncIterable<Buffer> {
  const content = held.open();
  if (Buffer.isBuffer(content)) yield content;
  else yield* content;
}
