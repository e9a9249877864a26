import { AppError } from '@croft/protocol';
import type { ObjectHead, PutCondition } from '../../../../core/storage/object-store.ts';
import { describeObject, metadataOf } from '../../layout/object-metadata.ts';
import type { KnownObject } from '../working-copy/manifest.ts';
import { type MountContext, objectKey } from '../working-copy/mount-context.ts';
import { type LocalEntry, readLocalEntry } from '../working-copy/read-local-entry.ts';
import type { ObjectOperation } from './plan-commit.ts';
import { isTombstone, putTombstone, waitForTombstone } from './tombstones.ts';

export type OperationOutcome =
  /** The bucket has our version. `cameBack`: somebody else had removed the object. */
  | { readonly type: 'put'; readonly known: KnownObject; readonly cameBack: boolean }
  | { readonly type: 'removed'; readonly isOurTombstone: boolean }
  /** Somebody else changed the object first. */
  | { readonly type: 'clash' }
  /** The local file changed after the tree was captured: the next commit takes it. */
  | { readonly type: 'moving' };

const maxTries = 20;

/** Performs one operation if the object is still as the manifest says, and otherwise finds out what happened to it. */
export async function performObjectOperation(
  context: MountContext,
  operation: ObjectOperation,
  write: string,
  signal?: AbortSignal,
): Promise<OperationOutcome> {
  if (!operation.entry) return remove(context, operation, write, signal);
  const outgoing = await readLocalEntry(context, operation.path, operation.entry.kind);
  if (!outgoing) return { type: 'moving' };
  await using _ = outgoing.content;
  return await put(context, operation, outgoing, { write, signal });
}

interface PutContext {
  readonly write: string;
  readonly signal?: AbortSignal | undefined;
}

async function put(
  context: MountContext,
  { key, known }: ObjectOperation,
  outgoing: LocalEntry,
  putting: PutContext,
): Promise<OperationOutcome> {
  let expect: PutCondition = known ? { etag: known.etag } : 'absent';
  let cameBack = false;
  for (let tries = 0; tries < maxTries; tries++) {
    const result = await send(context, key, outgoing, expect, putting);
    if (result !== 'refused') return { type: 'put', known: { ...outgoing.entry, etag: result.etag }, cameBack };
    const current = await context.objects.head(objectKey(context, key), putting.signal);
    const next = await judge(context, key, { there: current, outgoing, ...putting });
    if (next === 'clash') return { type: 'clash' };
    if (next === 'ours') return { type: 'put', known: { ...outgoing.entry, etag: current?.etag ?? '' }, cameBack };
    cameBack ||= known !== undefined && next === 'absent';
    expect = next;
  }
  throw busy();
}

function send(
  context: MountContext,
  key: string,
  { entry, content }: LocalEntry,
  expect: PutCondition,
  putting: PutContext,
) {
  const { write, signal } = putting;
  return context.objects.put(
    objectKey(context, key),
    { size: content.size, open: () => content.open() },
    { expect, metadata: metadataOf(entry, write), signal },
  );
}

/** Interprets a refused put: this server's object is there (its answer was lost), or no object, or somebody else's. */
async function judge(
  context: MountContext,
  key: string,
  { there: current, outgoing, write, signal }: PutContext & { there: ObjectHead | undefined; outgoing: LocalEntry },
): Promise<PutCondition | 'clash' | 'ours'> {
  if (!current) return 'absent';
  if (isTombstone(current)) {
    const expect = await waitForTombstone(context, current, key, signal);
    if (!expect) throw busy();
    return expect;
  }
  const theirs = describeObject(current);
  if (theirs.write === write) return 'ours';
  const isEqual = theirs.kind === outgoing.entry.kind && theirs.hash === outgoing.entry.hash;
  if (!isEqual) return 'clash';
  return theirs.mode === outgoing.entry.mode ? 'ours' : { etag: current.etag };
}

async function remove(
  context: MountContext,
  { key, known }: ObjectOperation,
  write: string,
  signal?: AbortSignal,
): Promise<OperationOutcome> {
  if (!known) return { type: 'removed', isOurTombstone: false };
  const result = await putTombstone(context, key, known.etag, write, signal);
  if (result !== 'refused') return { type: 'removed', isOurTombstone: true };
  const current = await context.objects.head(objectKey(context, key), signal);
  if (!current) return { type: 'removed', isOurTombstone: false };
  const { kind, write: by } = describeObject(current);
  if (kind === 'deleted') return { type: 'removed', isOurTombstone: by === write };
  return { type: 'clash' };
}

function busy(): AppError {
  return new AppError('E_STORAGE_UNAVAILABLE', 'another server is changing the same files and has not finished');
}
