import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { maxContentLines } from '../core/answers/answer-line-limits.ts';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { aroundLine, lineRange, viewRange } from '../core/arguments/line-range-forms.ts';
import { readLargeFile } from '../core/content/read/read-large-file.ts';
import {
  cutLines,
  type LineWindow,
  offsetPastEndError,
  renderWhole,
  renderWindow,
} from '../core/content/read/render-window.ts';
import type { FileContent } from '../core/files/files.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';
import { imageType } from '../lib/files/image-type.ts';
import { looksBinary } from '../lib/files/looks-binary.ts';
import { countLines, decodeText, sliceLines } from '../lib/text/lines/lines.ts';
import { decodeUtf16, detectUtf16 } from '../lib/text/utf16.ts';

const maxWholeBytes = 16 * 1024 * 1024;
/** Larger files skip the fast path: decoding them to see whether they are shown whole costs more than it saves. */
const maxQuickBytes = 64 * 1024;
/** Lower than `maxWholeBytes`, because UTF-16 text is in memory in two encodings at once. */
const maxWideBytes = 4 * 1024 * 1024;
const maxImageBytes = 5 * 1024 * 1024;

export const read = defineTool({
  name: 'read',
  aliases: ['Read', 'file-read', 'read_file', 'read_text_file'],
  spellings: { aliases: { path: 'file_path', max_lines: 'limit' }, forms: [aroundLine, lineRange, viewRange] },
  title: 'Read file',
  description:
    'Read a text file, whole or by lines; each line comes as its number, a tab and its text. An image comes as an image. ' +
    'A file must be read before it is edited or overwritten.',
  toolset: 'files',
  isEveryday: true,
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  answersImages: true,
  // A single line may be as long as the disk is large.
  timeoutMs: 30_000,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    offset: lenientCount({ fallback: 1 }).describe('First line to show, counting from 1'),
    limit: lenientCount({ fallback: maxContentLines, max: 50_000 }).describe(
      `Most lines to show (${maxContentLines}, never more)`,
    ),
    column: lenientCount({ fallback: 1 }).describe('First character of each line to show, for lines that were cut'),
  }),
  output: z.object({
    path: z.string(),
    kind: z.enum(['text', 'image', 'binary']),
    size: z.int(),
    encoding: z.enum(['utf-16le', 'utf-16be']).optional().describe('Encoding of the file, if it is not UTF-8'),
    content: z.string().optional().describe('The shown lines as they are in the file; over MCP with their numbers'),
    startLine: z.int().optional(),
    endLine: z.int().optional(),
    totalLines: z.int().optional().describe('Absent when the file was too large to count'),
    truncated: z.boolean().describe('There is more than was shown'),
    nextOffset: z.int().optional().describe('Read on with this as offset'),
  }),
  async run(asked, context) {
    const { workspace, session } = context;
    const input = { ...asked, limit: Math.min(asked.limit, maxContentLines) };
    const { file_path: path } = input;
    const content = await workspace.files.read(path, { maxBytes: maxWholeBytes }).catch(toUndefinedIfTooLarge);
    if (!content || (content.size > maxWideBytes && detectUtf16(content.bytes)))
      return readFromLarge(path, input, context);

    const shown = show(content, input);
    session.reads.saw(workspace.name, content, linesOf(shown.structured));
    return shown;
  },
});

function show(content: FileContent, window: LineWindow) {
  const mimeType = imageType(content.bytes);
  if (mimeType && content.size <= maxImageBytes) return showImage(content, mimeType);
  if (mimeType || looksBinary(content.bytes)) return showBinary(content, mimeType);
  return showWhole(content, window) ?? showText(content, window);
}

function showWhole({ path, size, bytes }: FileContent, window: LineWindow) {
  if (bytes.length > maxQuickBytes || detectUtf16(bytes)) return undefined;
  const { text: content, lossy } = decodeText(bytes);
  return lossy ? undefined : renderWhole({ path, size, content }, window);
}

function showText({ path, size, bytes: stored }: FileContent, window: LineWindow) {
  const encoding = detectUtf16(stored);
  const wide = encoding && decodeUtf16(stored, encoding);
  const bytes = wide ? Buffer.from(wide.text) : stored;
  const totalLines = countLines(bytes);
  if (totalLines === 0)
    return {
      text: '',
      notices: [`${path} is an empty file\n`],
      structured: { path, kind: 'text' as const, size, content: '', totalLines, truncated: false },
    };
  if (window.offset > totalLines) throw offsetPastEndError(window.offset, totalLines);
  const { start, end } = sliceLines(bytes, window.offset, window.limit);
  const { text: content, lossy } = decodeText(bytes.subarray(start, end));
  const lines = cutLines(content, window);
  return renderWindow({ path, size, lines, lossy: wide?.lossy ?? lossy, window, encoding, totalLines });
}

function showImage({ path, size, bytes }: FileContent, mimeType: string) {
  return {
    text: `image ${path} (${mimeType}, ${size} bytes)`,
    structured: { path, kind: 'image' as const, size, truncated: false },
    image: { data: bytes.toString('base64'), mimeType },
  };
}

function showBinary({ path, size }: FileContent, mimeType = 'not text') {
  return {
    text: `binary file ${path} (${mimeType}, ${size} bytes): its content is not shown`,
    structured: { path, kind: 'binary' as const, size, truncated: size > 0 },
  };
}

async function readFromLarge(path: string, window: LineWindow, { workspace, session, signal }: ToolContext) {
  await using file = await workspace.files.open(path);
  const part = await readLargeFile(file.chunks(), window, signal);
  if (part === 'binary') {
    return {
      text: `binary file ${path} (${file.stat.size} bytes): its content is not shown`,
      structured: { path: file.stat.path, kind: 'binary' as const, size: file.stat.size, truncated: true },
    };
  }
  const version = await workspace.files.version(path);
  // The file counts as read only if it has not changed since it was opened.
  const shown = renderWindow({ path: file.stat.path, size: file.stat.size, ...part, window });
  if (version && version.mtimeMs === file.stat.mtimeMs && version.size === file.stat.size)
    session.reads.saw(workspace.name, version, linesOf(shown.structured));
  return shown;
}

/** Returns the lines that were shown, or `undefined` if none were. */
function linesOf(shown: { readonly path: string; readonly startLine?: number; readonly endLine?: number }) {
  const { startLine: first, endLine: last } = shown;
  return first === undefined || last === undefined || last < first ? undefined : { first, last };
}

function toUndefinedIfTooLarge(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_TOO_LARGE') return undefined;
  throw thrown;
}
