import { AppError } from '@croft/protocol';
import type { Files, Precondition } from '../../core/files/files.ts';

type Tags = '*' | readonly string[];

export function toTag(version: string): string {
  return `"${version}"`;
}

/**
 * Reads the tags of `If-Match` or `If-None-Match`. Weak tags are accepted, because a proxy that compresses weakens
 * them, and a version identifies the bytes all the same.
 */
export function readTags(headers: Headers, name: 'if-match' | 'if-none-match'): Tags | undefined {
  const text = headers.get(name)?.trim();
  if (text === undefined || text === '*') return text;
  const tags = text.split(',').map((tag) => /^\s*(?:W\/)?"([\x21\x23-\x7e]*)"\s*$/.exec(tag)?.[1]);
  if (tags.every((tag) => tag !== undefined)) return tags;
  throw new AppError('E_INVALID_INPUT', `${name} takes ETags as they were answered, such as "3f…", or *`, {
    details: { header: name },
  });
}

export function isAmong(tags: Tags, version: string): boolean {
  return tags === '*' || tags.includes(version);
}

/**
 * Returns what must still hold when the bytes are put in place. Throws `E_PRECONDITION_FAILED` if the condition already
 * fails.
 */
export async function toPrecondition(files: Files, path: string, headers: Headers): Promise<Precondition | undefined> {
  const [match, none] = [readTags(headers, 'if-match'), readTags(headers, 'if-none-match')];
  if (none === '*') return 'absent';
  if (match === undefined && none === undefined) return undefined;
  const current = await files.version(path);
  if (match !== undefined && !(current && isAmong(match, current.version))) throw failed(path);
  if (none !== undefined && current && isAmong(none, current.version)) throw failed(path);
  return current ? { version: current.version } : 'absent';
}

/** A change by somebody else during the request is reported as a failed condition too, if the request had one. */
export async function asPreconditionFailure<T>(
  expect: Precondition | undefined,
  path: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const isUnmet = AppError.is(thrown) && (thrown.code === 'E_STALE' || thrown.code === 'E_ALREADY_EXISTS');
    throw expect !== undefined && isUnmet ? failed(path) : thrown;
  }
}

function failed(path: string): AppError {
  return new AppError('E_PRECONDITION_FAILED', `the ETag of ${path} does not fit If-Match or If-None-Match`, {
    details: { path },
  });
}
