import { AppError } from '@croft/protocol';
import type { ObjectHead, ObjectStore } from '../../../core/storage/object-store.ts';
import type { BucketConnection } from './get-object.ts';
import { unquote } from './object-headers.ts';
import { readSmallBody } from './read-bounded-body.ts';
import { readElement, splitElements } from './s3-xml.ts';
import { readRefusal } from './service-errors.ts';
import { withRetries } from './with-retries.ts';

type ListOptions = NonNullable<Parameters<ObjectStore['list']>[1]>;
type Listed = Omit<ObjectHead, 'metadata'>;

interface ListingPage {
  readonly objects: readonly Listed[];
  /** Continuation token of the next page. */
  readonly next: string | undefined;
}

/** Lists objects, page by page. */
export async function* listObjects(wire: BucketConnection, prefix: string, { after, signal }: ListOptions = {}) {
  const asked = { 'list-type': '2', 'encoding-type': 'url', prefix: wire.prefix + prefix };
  const start = after === undefined ? {} : { 'start-after': wire.prefix + after };
  for (let next: string | undefined; ; ) {
    const query = { ...asked, ...start, ...(next !== undefined && { 'continuation-token': next }) };
    const page = await withRetries(wire.retries, signal, () => readPage(wire, query, signal));
    yield page.objects;
    if (page.next === undefined) return;
    next = page.next;
  }
}

async function readPage(
  wire: BucketConnection,
  query: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<ListingPage> {
  const response = await wire.transport.send({ method: 'GET', key: '', query, signal });
  if (response.statusCode !== 200) throw await readRefusal(response);
  const text = (await readSmallBody(response)).toString();
  if (!text.includes('</ListBucketResult>'))
    throw new AppError('E_STORAGE_FAILED', 'the storage did not answer with a listing');
  const decode = text.includes('<EncodingType>url</EncodingType>') ? decodeKey : (key: string) => key;
  const toListed = (entry: string): Listed => ({
    key: decode(readElement(entry, 'Key')).slice(wire.prefix.length),
    etag: unquote(readElement(entry, 'ETag')),
    size: Number(readElement(entry, 'Size')),
    modifiedAt: new Date(readElement(entry, 'LastModified')),
  });
  const isMore = readElement(text, 'IsTruncated') === 'true';
  const objects = splitElements(text, 'Contents').map(toListed);
  return { objects, next: isMore ? readElement(text, 'NextContinuationToken') : undefined };
}

/** Listings encode keys as in URLs, because XML cannot represent all of them. */
function decodeKey(key: string): string {
  return key.includes('%') || key.includes('+') ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}
