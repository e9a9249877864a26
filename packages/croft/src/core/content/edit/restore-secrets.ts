import { AppError } from '@croft/protocol';
import { restoreMarks } from '../../../lib/redaction/restore-marks.ts';
import { decodeUtf16, detectUtf16, encodeUtf16, type Utf16Order } from '../../../lib/text/utf16.ts';
import type { Secrets } from '../../secrets/secrets.ts';
import type { Edit, EditedFile } from './apply-edits.ts';
import { applyEditsOffThread } from './apply-edits-off-thread.ts';

type Marks = Secrets['marks'];

/** Finding all secrets in a larger file would block others for too long. */
const maxBytes = 4 * 1024 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Restores secrets in content that a model wrote. A model that saw a redaction mark instead of a secret writes the mark
 * back and means the secret. Throws `E_REDACTION_MARK` for a mark that stands for nothing in this file.
 */
export async function restoreSecrets(
  content: string,
  current: (() => Buffer | Promise<Buffer>) | undefined,
  path: string,
  marks: Marks,
): Promise<string> {
  const found = marks.findMarks(content);
  if (found.length === 0) return content;
  const before = current && decode(await current());
  const restored = before === undefined ? undefined : restoreMarks(content, found, marks.show(before));
  if (restored === undefined) throw unknownMarkError(content.slice(found[0]?.start, found[0]?.end), path);
  return restored;
}

/** Applies edits like `applyEditsOffThread`. Edits with redaction marks apply to the file as the model saw it. */
export async function applyEditsWithSecrets(
  before: Buffer,
  edits: readonly Edit[],
  path: string,
  marks: Marks,
): Promise<EditedFile> {
  const hasMark = (text: string) => marks.findMarks(text).length > 0;
  if (!edits.some(({ old_string, new_string }) => hasMark(old_string) || hasMark(new_string)))
    return applyEditsOffThread(before, edits, path);
  const text = decode(before);
  if (text === undefined) throw unknownMarkError('a mark', path);
  const { bytes, replaced } = await applyEditsOffThread(Buffer.from(marks.show(text).text), edits, path);
  const restored = await restoreSecrets(bytes.toString(), () => before, path, marks);
  const order = detectUtf16(before);
  return { bytes: order ? encodeUtf16(restored, order) : Buffer.from(restored), replaced };
}

/** Throws `E_REDACTION_MARK` if a text that replaces nothing has a redaction mark: there is no secret to put in its place. */
export function mustHaveNoMark(text: string, path: string, marks: Marks): void {
  const [mark] = marks.findMarks(text);
  if (mark) throw unknownMarkError(text.slice(mark.start, mark.end), path);
}

/** Decodes a file; `undefined` if it is not text, or too large to search for secrets. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.length > maxBytes) return undefined;
  const order = detectUtf16(bytes);
  if (order) return decodeWhole(bytes, order);
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function decodeWhole(bytes: Buffer, order: Utf16Order): string | undefined {
  const { text, lossy } = decodeUtf16(bytes, order);
  return lossy ? undefined : text;
}

function unknownMarkError(mark: string, path: string): AppError {
  return new AppError(
    'E_REDACTION_MARK',
    `${mark} stands for a secret that was hidden from you, and nothing in ${path} says which one is meant here; nothing was written`,
    { details: { path, mark } },
  );
}
