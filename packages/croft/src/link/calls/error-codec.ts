import { AppError, type ErrorCode, errorCatalog } from '@croft/protocol';
import { cutText } from '../../lib/text/cut-text.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';

const maxMessageChars = 16 * 1024;
const maxDetailChars = 64 * 1024;
const maxDepth = 8;

/**
 * Encodes an error without its hint, which the other side has in its own catalogue. An error that is not an `AppError`
 * crosses as `E_INTERNAL`, without its cause.
 */
export function encodeError(thrown: unknown): Buffer {
  const { code, message, details } = AppError.from(thrown);
  const text = cutText(message, maxMessageChars);
  return Buffer.from(JSON.stringify({ code, message: text, details: fits(details) ? details : {} }));
}

function fits(details: unknown): boolean {
  try {
    return JSON.stringify(details).length <= maxDetailChars;
  } catch {
    return false;
  }
}

/** Decodes an error of the other side. The other side is hostile and chose every character of it. */
export function decodeError(body: unknown): AppError {
  const { code, message, details } = isRecord(body) ? body : {};
  return new AppError(isCode(code) ? code : 'E_INTERNAL', toText(message), {
    details: isRecord(details) && fits(details) ? cleanRecord(details, 0) : {},
  });
}

function isCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCatalog, code);
}

function toText(message: unknown): string {
  if (typeof message !== 'string' || message === '') return 'the other side failed and did not say why';
  return clean(cutText(message, maxMessageChars));
}

function clean(text: string): string {
  return stripControlSequences(text).toWellFormed();
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return clean(value);
  if (depth >= maxDepth) return null;
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, depth + 1));
  return isRecord(value) ? cleanRecord(value, depth) : value;
}

function cleanRecord(record: Record<string, unknown>, depth: number): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [clean(name), cleanValue(value, depth + 1)]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `wasSent` tells whether the other side may have begun the call. */
export function lostError(reason: string, method: string, wasSent: boolean): AppError {
  const when = wasSent ? `while ${method} was under way` : `before ${method} was sent, so nothing of it was done`;
  return new AppError('E_RUNNER_LOST', `the link to the runner was lost ${when}: ${reason}`, {
    details: { method, sent: wasSent },
    ...(!wasSent && { hint: 'Make the call again when the runner is connected.' }),
  });
}
