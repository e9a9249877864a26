import { AppError } from '@croft/protocol';
import type { Expectation } from '../core/accounts/registry.ts';

export function toEtag(version: number): string {
  return `"${version}"`;
}

/** No record has it, so that a tag of somebody else's making matches none. */
const versionOfNone = 0;

/**
 * The version the caller has seen. A proxy that compresses an answer makes its tag weak; a version names one state of a
 * record exactly, so that it is as good as before.
 */
export function readIfMatch(header: string | null): Expectation {
  if (header === null || header.trim() === '*') return {};
  const [, tag] = /^(?:W\/)?"([\x21\x23-\x7e]*)"$/.exec(header.trim()) ?? [];
  if (tag === undefined)
    throw new AppError('E_INVALID_INPUT', 'If-Match takes one ETag as it was answered, such as "3", or *', {
      details: { header: 'If-Match' },
    });
  return { version: /^[1-9]\d{0,14}$/.test(tag) ? Number(tag) : versionOfNone };
}
