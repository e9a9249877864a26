import { AppError } from '@croft/protocol';
import type { ObjectHead, PutCondition } from '../../core/objects.ts';
import { type Ground, objectKey } from './ground.ts';
import type { Known } from './manifest.ts';
import { describeObject, metadataOf } from './object-entries.ts';
import { type Outgoing, readOutgoing } from './outgoing.ts';
import type { Operation } from './plan.ts';
import { isTombstone, passTombstone, putTombstone } from './tombstones.ts';

export type Outcome =
  /** The bucket has what we have. `cameBack`: somebody else had removed it. */
  | { readonly type: 'put'; readonly known: Known; readonly cameBack: boolean }
  | { readonly type: 'removed'; readonly isOurTombstone: boolean }
  /** Somebody else changed it first. */
  | { readonly type: 'clash' }
  /** It changed here since the tree was captured: the next commit has it. */
  | { readonly type: 'moving' };

const maxTries = 20;

/** Does one operation if the object still is as we know it, and otherwise finds out what has happened to it. */
export async function perform(
  ground: Ground,
  operation: Operation,
  write: string,
  signal?: AbortSignal,
): Promise<Outcome> {
  if (!operation.entry) return remove(ground, operation, write, signal);
  const outgoing = await readOutgoing(ground, operation.path, operation.entry.kind);
  if (!outgoing) return { type: 'moving' };
  await using _ = outgoing.held;
  return await put(ground, operation, outgoing, { write, signal });
}

interface Putting {
  readonly write: string;
  readonly signal?: AbortSignal | undefined;
}

async function put(ground: Ground, { key, known }: Operation, outgoing: Outgoing, putting: Putting): Promise<Outcome> {
  let expect: PutCondition = known ? { etag: known.etag } : 'absent';
  let cameBack = false;
  for (let tries = 0; tries < maxTries; tries++) {
    const result = await send(ground, key, outgoing, expect, putting);
    if (result !== 'refused') return { type: 'put', known: { ...outgoing.entry, etag: result.etag }, cameBack };
    const there = await ground.objects.head(objectKey(ground, key), putting.signal);
    const next = await judge(ground, key, { there, outgoing, ...putting });
    if (next === 'clash') return { type: 'clash' };
    if (next === 'ours') return { type: 'put', known: { ...outgoing.entry, etag: there?.etag ?? '' }, cameBack };
    cameBack ||= known !== undefined && next === 'absent';
    expect = next;
  }
  throw busy();
}

function send(ground: Ground, key: string, { entry, held }: Outgoing, expect: PutCondition, putting: Putting) {
  const { write, signal } = putting;
  return ground.objects.put(
    objectKey(ground, key),
    { size: held.size, open: () => held.open() },
    { expect, metadata: metadataOf(entry, write), signal },
  );
}

/** What a refusal means: it was ours all the time (the answer was lost), it is gone, or it is somebody else's. */
async function judge(
  ground: Ground,
  key: string,
  { there, outgoing, write, signal }: Putting & { there: ObjectHead | undefined; outgoing: Outgoing },
): Promise<PutCondition | 'clash' | 'ours'> {
  if (!there) return 'absent';
  if (isTombstone(there)) {
    const expect = await passTombstone(ground, there, key, signal);
    if (!expect) throw busy();
    return expect;
  }
  const theirs = describeObject(there);
  if (theirs.write === write) return 'ours';
  const isEqual = theirs.kind === outgoing.entry.kind && theirs.hash === outgoing.entry.hash;
  if (!isEqual) return 'clash';
  return theirs.mode === outgoing.entry.mode ? 'ours' : { etag: there.etag };
}

async function remove(
  ground: Ground,
  { key, known }: Operation,
  write: string,
  signal?: AbortSignal,
): Promise<Outcome> {
  if (!known) return { type: 'removed', isOurTombstone: false };
  const result = await putTombstone(ground, key, known.etag, write, signal);
  if (result !== 'refused') return { type: 'removed', isOurTombstone: true };
  const there = await ground.objects.head(objectKey(ground, key), signal);
  if (!there) return { type: 'removed', isOurTombstone: false };
  const { kind, write: by } = describeObject(there);
  if (kind === 'deleted') return { type: 'removed', isOurTombstone: by === write };
  return { type: 'clash' };
}

function busy(): AppError {
  return new AppError('E_STORAGE_UNAVAILABLE', 'another server is changing the same files and has not finished');
}
