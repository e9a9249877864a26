import { AppError } from '@croft/protocol';
import type { ObjectHead, ObjectStore } from '../../../core/storage/object-store.ts';
import type { BucketConnection } from './get-object.ts';
import { unquote } from './object-headers.ts';
import { readSmallBody } from './read-small-body.ts';
import { withRetries } from './retries.ts';
import { readRefusal } from './service-errors.ts';

type ListOptions = NonNullable<Parameters<ObjectStore['list']>[1]>;
type Listed = Omit<ObjectHead, 'metadata'>;

interface ListingPage {
  readonly objects: readonly Listed[];
  /** Continuation token of the next page. */
  readonly next: string | undefined;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Lists objects without the SDK, which takes ten times as long to parse a page and has to be loaded first. */
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
    key: decode(unescapeText(field(entry, 'Key'))).slice(wire.prefix.length),
    etag: unquote(unescapeText(field(entry, 'ETag'))),
    size: Number(field(entry, 'Size')),
    modifiedAt: new Date(field(entry, 'LastModified')),
  });
  const isMore = field(text, 'IsTruncated') === 'true';
  const objects = text.split('<Contents>').slice(1).map(toListed);
  return { objects, next: isMore ? unescapeText(field(text, 'NextContinuationToken')) : undefined };
}

function field(text: string, name: string): string {
  const start = text.indexOf(`<${name}>`) + name.length + 2;
  const end = text.indexOf(`</${name}>`, start);
  return start < name.length + 2 || end === -1 ? '' : text.slice(start, end);
}

/** Listings encode keys as in URLs, because XML cannot represent all of them. */
function decodeKey(key: string): string {
  return key.includes('%') || key.includes('+') ? decodeURIComponent(key.replaceAll('+', ' ')) : key;
}

function unescapeText(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
