import { extname } from 'node:path';
import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { lenientCount } from '../../arguments/lenient-count.ts';
import {
  type DiagramFormat,
  type DiagramLanguage,
  diagramFormats,
  type RenderedDiagram,
} from '../../diagrams/render-diagram.ts';
import { defineTool, type Image, type Tool, type ToolContext } from '../../tools/tool.ts';
import { changeSeenFile } from '../edit/change-seen-file.ts';

const maxSourceBytes = 1024 * 1024;
const maxOutputBytes = 10 * 1024 * 1024;
/** Size limit of an image, as for `read`. */
const maxImageBytes = 5 * 1024 * 1024;
/** Time beside the drawing: for waiting until other diagrams are drawn, and for the file. */
const extraMs = 60_000;

const input = z.object({
  source: z.string().min(1).describe('The diagram as text, at most 1 MiB'),
  output_path: z.string().min(1).describe('File to write, relative to the workspace root: .svg, .png or .pdf'),
  timeout: lenientCount({ fallback: 60, max: 300 }).describe('Seconds it may take (60, at most 300)'),
});

/** Defines `render_mermaid` or `render_dot`: the two differ only in the language of the diagram. */
export function defineDiagramTool(
  language: DiagramLanguage,
  words: Pick<Tool, 'title' | 'description'> & { readonly aliases?: readonly string[] },
): Tool {
  const name = `render_${language}`;
  return defineTool({
    name,
    ...words,
    toolset: 'diagrams',
    access: 'write',
    reach: 'one',
    reportsChanges: true,
    idempotent: true,
    answersImages: true,
    timeoutMs: 300_000 + extraMs,
    paths: ['output_path'],
    changes: ['output_path'],
    input,
    output: z.object({
      path: z.string(),
      bytes: z.int(),
      format: z.enum(diagramFormats),
      created: z.boolean(),
      width: z.int().describe('Of the image, in pixels'),
      height: z.int(),
    }),
    preview: async ({ source, output_path: path }) => `render ${path}\n\n${source}`,
    async run({ source, output_path: path, timeout }, context) {
      mustFit(source);
      const format = toFormat(path);
      await mustNotBeDirectory(context, path);
      const request = { language, source, format, timeoutMs: timeout * 1000, signal: context.signal };
      const drawn = await context.renderDiagram(request);
      mustBeSmall(name, drawn);
      const { written, change, replacement } = await writeDiagram(context, path, drawn);
      const { length } = drawn.bytes;
      const { width, height } = drawn;
      return {
        text: `wrote ${length} bytes to ${path} (${format})`,
        structured: { path: written.path, bytes: length, format, created: change.created, width, height },
        ...toImage(drawn),
        replacement,
      };
    },
  });
}

/** Replaces the file whole or not at all. A file that is there has to be read first, as for `write`. */
function writeDiagram(context: ToolContext, path: string, { bytes }: RenderedDiagram) {
  const { session, workspace } = context;
  return changeSeenFile(context, path, (current) => {
    if (current) session.reads.mustHaveSeen(workspace.name, current, 'overwrite', path);
    return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), created: !current };
  });
}

function mustFit(source: string): void {
  const bytes = Buffer.byteLength(source);
  if (bytes > maxSourceBytes) throw new AppError('E_TOO_LARGE', `source ${bytes} bytes exceeds cap ${maxSourceBytes}`);
}

function toFormat(path: string): DiagramFormat {
  const extension = extname(path);
  const format = diagramFormats.find((one) => `.${one}` === extension.toLowerCase());
  if (format) return format;
  const supported = diagramFormats.map((one) => `.${one}`).join(', ');
  const shown = JSON.stringify(extension.slice(0, 40));
  throw new AppError('E_INVALID_INPUT', `unsupported output extension ${shown}; supported: ${supported}`);
}

/** Refuses a path that cannot be written before anything is drawn. */
async function mustNotBeDirectory({ workspace }: ToolContext, path: string): Promise<void> {
  const found = await workspace.files.stat(path).catch(ignoreMissing);
  if (found?.kind === 'directory') throw new AppError('E_NOT_A_FILE', `output_path is a directory: ${path}`);
}

function ignoreMissing(thrown: unknown): undefined {
  if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
  throw thrown;
}

function mustBeSmall(name: string, { bytes: { length } }: RenderedDiagram): void {
  if (length <= maxOutputBytes) return;
  const advice = 'reduce diagram complexity or use a lighter format';
  throw new AppError('E_TOO_LARGE', `${name}: output ${length} bytes exceeds cap ${maxOutputBytes}; ${advice}`);
}

function toImage({ png }: RenderedDiagram): { readonly image?: Image } {
  if (png.length > maxImageBytes) return {};
  return {
    image: { data: Buffer.from(png.buffer, png.byteOffset, png.byteLength).toString('base64'), mimeType: 'image/png' },
  };
}
