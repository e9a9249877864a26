import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { effectOutput } from '../core/checks/effect-output.ts';
import { changeSeen } from '../core/content/change-seen.ts';
import { describeChange } from '../core/content/describe-change.ts';
import { defineTool } from '../core/tool.ts';

/** A person reads no more of it. */
const maxPreviewBytes = 8 * 1024 * 1024;

export const write = defineTool({
  name: 'write',
  aliases: ['Write', 'file-create', 'FileCreate', 'write_file'],
  argumentAliases: { path: 'file_path' },
  title: 'Write file',
  description:
    'Create a file, with missing directories, or replace one that has been read. The file is replaced whole or not at all.',
  access: 'write',
  reach: 'one',
  tells: true,
  paths: ['file_path'],
  idempotent: true,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    content: z.string().describe('All of the new content'),
  }),
  output: z.object({ path: z.string(), bytes: z.int(), created: z.boolean(), ...effectOutput }),
  async preview({ file_path: path, content }, { workspace }) {
    const isThere = await workspace.files.version(path);
    const before = isThere ? await workspace.files.read(path, { maxBytes: maxPreviewBytes }) : undefined;
    const diff = describeChange(before?.bytes ?? Buffer.alloc(0), Buffer.from(content));
    return `${before ? 'replace' : 'create'} ${path}\n\n${diff === '' ? content : diff}`;
  },
  async run({ file_path: path, content }, context) {
    const { workspace, session } = context;
    if (!content.isWellFormed()) throw new AppError('E_INVALID_INPUT', 'content holds half of a surrogate pair');
    const bytes = Buffer.from(content);
    const { written, change, replacement } = await changeSeen(context, path, (current) => {
      if (current) session.reads.mustHaveSeen(workspace.name, current, 'overwrite', path);
      return { bytes, created: !current };
    });
    return {
      text: `wrote ${bytes.length} bytes to ${path}`,
      structured: { path: written.path, bytes: bytes.length, created: change.created },
      touched: [written.path],
      replacement,
    };
  },
});
