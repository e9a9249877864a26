import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@croft/protocol';
import type { ObjectHead } from '../../../core/storage/object-store.ts';

const metadataPrefix = 'x-amz-meta-';
/** Metadata with a random id, by which a put with a lost answer recognises its own object. */
export const writeMark = 'croft-put';

/** Headers carry ASCII; other characters are encoded as in URLs. */
export function toMetadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(metadata).map(([name, value]) => [`${metadataPrefix}${name}`, encodeValue(value)]);
  return Object.fromEntries(pairs);
}

function encodeValue(value: string): string {
  if (!value.isWellFormed()) throw new AppError('E_INVALID_PATH', 'the metadata of the file is not valid Unicode');
  return value.replace(/[^\x21-\x24\x26-\x7e]+/g, (part) => encodeURIComponent(part));
}

function decodeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

export function toHead(key: string, headers: IncomingHttpHeaders): ObjectHead {
  const [, whole] = /\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return {
    key,
    etag: unquote(headers.etag ?? ''),
    size: Number(whole ?? headers['content-length'] ?? 0),
    modifiedAt: new Date(headers['last-modified'] ?? 0),
    metadata: toMetadata(headers),
  };
}

function toMetadata(headers: IncomingHttpHeaders): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const name in headers) {
    if (!name.startsWith(metadataPrefix)) continue;
    const own = name.slice(metadataPrefix.length);
    if (own !== writeMark) metadata[own] = decodeValue(String(headers[name]));
  }
  return metadata;
}

export function markOf(headers: IncomingHttpHeaders): string | undefined {
  return headers[`${metadataPrefix}${writeMark}`]?.toString();
}

export function unquote(etag: string): string {
  return etag.replace(/^(?:W\/)?"|"$/g, '');
}
