import { AppError } from '@croft/protocol';
import type { ExpectedVersion } from '../../core/accounts/ports/registry.ts';

export function toEtag(version: number): string {
  return `"${version}"`;
}

/** No record has this version, so that a foreign tag matches none. */
const versionOfNone = 0;

/**
 * Returns the version that the caller has seen. Weak tags are accepted, because a proxy that compresses weakens them,
 * and a version identifies one state of a record all the same.
 */
export function readIfMatch(header: string | null): ExpectedVersion {
  if (header === null || header.trim() === '*') return {};
  const [, tag] = /^(?:W\/)?"([\x21\x23-\x7e]*)"$/.exec(header.trim()) ?? [];
  if (tag === undefined)
    throw new AppError('E_INVALID_INPUT', 'If-Match takes one ETag as it was answered, such as "3", or *', {
      details: { header: 'If-Match' },
    });
  return { version: /^[1-9]\d{0,14}$/.test(tag) ? Number(tag) : versionOfNone };
}
