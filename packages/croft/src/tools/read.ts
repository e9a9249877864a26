import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { readLarge } from '../core/content/read-large.ts';
import { cutLines, type LineWindow, pastTheEnd, renderWhole, renderWindow } from '../core/content/read-window.ts';
import { count } from '../core/count.ts';
import type { FileContent } from '../core/files.ts';
import { defineTool, type ToolContext } from '../core/tool.ts';
import { imageType, looksBinary } from '../lib/image-type.ts';
import { countLines, decodeText, sliceLines } from '../lib/text/lines.ts';

const maxWholeBytes = 16 * 1024 * 1024;
/** Decoding more than this to see whether all of it is shown would cost more than it saves. */
const maxQuickBytes = 64 * 1024;
const maxImageBytes = 5 * 1024 * 1024;

export const read = defineTool({
  name: 'read',
  aliases: ['Read', 'file-read', 'read_file', 'read_text_file'],
  argumentAliases: { path: 'file_path' },
  title: 'Read file',
  description:
    'Read a text file, whole or by lines; each line comes as its number, a tab and its text. An image comes as an image. ' +
    'A file must be read before it is edited or overwritten.',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  // One line of it may be as long as the disk is large.
  timeoutMs: 30_000,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    offset: count({ fallback: 1 }).describe('First line to show, counting from 1'),
    // Characters are counted apart, and an empty line has none.
    limit: count({ fallback: 2000, max: 50_000 }).describe('Most lines to show (2000, at most 50000)'),
    column: count({ fallback: 1 }).describe('First character of each line to show, for lines that were cut'),
  }),
  output: z.object({
    path: z.string(),
    kind: z.enum(['text', 'image', 'binary']),
    size: z.int(),
    content: z.string().optional().describe('The shown lines as they are in the file'),
    startLine: z.int().optional(),
    endLine: z.int().optional(),
    totalLines: z.int().optional().describe('Absent when the file was too large to count'),
    truncated: z.boolean().describe('There is more than was shown'),
  }),
  async run(input, context) {
    const { workspace, session } = context;
    const { file_path: path } = input;
    const content = await workspace.files.read(path, { maxBytes: maxWholeBytes }).catch(toUndefinedIfTooLarge);
    if (!content) return readFromLarge(path, input, context);

    const shown = show(content, input);
    session.reads.saw(workspace.name, content);
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
  if (bytes.length > maxQuickBytes) return undefined;
  const { text: content, lossy } = decodeText(bytes);
  return lossy ? undefined : renderWhole({ path, size, content }, window);
}

function showText({ path, size, bytes }: FileContent, window: LineWindow) {
  const totalLines = countLines(bytes);
  if (totalLines === 0)
    return { text: '', structured: { path, kind: 'text' as const, size, content: '', totalLines, truncated: false } };
  if (window.offset > totalLines) throw pastTheEnd(window.offset, totalLines);
  const { start, end } = sliceLines(bytes, window.offset, window.limit);
  const { text: content, lossy } = decodeText(bytes.subarray(start, end));
  return renderWindow({ path, size, lines: cutLines(content, window), lossy, window, totalLines });
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
  const part = await readLarge(file.chunks(), window, signal);
  if (part === 'binary') {
    return {
      text: `binary file ${path} (${file.stat.size} bytes): its content is not shown`,
      structured: { path: file.stat.path, kind: 'binary' as const, size: file.stat.size, truncated: true },
    };
  }
  const version = await workspace.files.version(path);
  // What was shown counts as read only if it is still what is there.
  if (version && version.mtimeMs === file.stat.mtimeMs && version.size === file.stat.size)
    session.reads.saw(workspace.name, version);
  return renderWindow({ path: file.stat.path, size: file.stat.size, ...part, window });
}

function toUndefinedIfTooLarge(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_TOO_LARGE') return undefined;
  throw thrown;
}
