import type { TreeEntry } from '../../../../core/history/ports/tree.ts';
import type { ObjectHead } from '../../../../core/storage/object-store.ts';
import { describeObject, toSecond } from '../../layout/object-metadata.ts';
import { type BufferedContent, bufferContent } from './buffered-content.ts';
import type { KnownObject } from './manifest.ts';
import { type MountContext, objectKey } from './mount-context.ts';

/** An object fetched from the bucket, with its content. */
export interface FetchedObject {
  readonly key: string;
  readonly known: KnownObject;
  readonly content: BufferedContent;
}

const maxTargetBytes = 4095;

/** `undefined` if there is no object or only a tombstone. */
export async function fetchObject(
  context: Pick<MountContext, 'objects' | 'namespace' | 'spool'>,
  key: string,
  signal?: AbortSignal,
): Promise<FetchedObject | undefined> {
  const found = await context.objects.get(objectKey(context, key), signal ? { signal } : {});
  if (found === undefined || found === 'unchanged') return undefined;
  if (describeObject(found).kind === 'deleted') {
    found.body.destroy();
    return undefined;
  }
  const content = await bufferContent(found.body, context.spool);
  return {
    key,
    content,
    known: { ...entryOf(found, content), etag: found.etag, modifiedAt: toSecond(found.modifiedAt) },
  };
}

/** The entry of the content that really came: another tool may have put new content under old metadata. */
function entryOf(found: ObjectHead, content: BufferedContent): TreeEntry {
  const { kind, mode, hash = '' } = describeObject(found);
  if (kind === 'directory') return { kind, mode, size: 0, hash };
  const { size } = content;
  if (kind === 'link' && isTarget(content)) return { kind, mode, size, hash: content.hash };
  return { kind: 'file', mode: kind === 'link' ? 0o644 : mode, size, hash: content.hash };
}

function isTarget(content: BufferedContent): boolean {
  const bytes = content.open();
  return Buffer.isBuffer(bytes) && bytes.length > 0 && bytes.length <= maxTargetBytes && !bytes.includes(0);
}

/** The content in pieces, for `WorkingTree.apply`. */
export async function* toPieces(buffered: BufferedContent): AsyncIterable<Buffer> {
  const content = buffered.open();
  if (Buffer.isBuffer(content)) yield content;
  else yield* content;
}
