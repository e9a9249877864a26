import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { changeSeenFile } from '../core/content/edit/change-seen-file.ts';
import { describeChange } from '../core/content/edit/describe-change.ts';
import { restoreSecrets } from '../core/content/edit/restore-secrets.ts';
import { defineTool } from '../core/tools/tool.ts';

/** Previews of larger files are refused: nobody reads that much. */
const maxPreviewBytes = 8 * 1024 * 1024;

export const write = defineTool({
  name: 'write',
  aliases: ['Write', 'file-create', 'FileCreate', 'write_file'],
  spellings: { aliases: { path: 'file_path', text: 'content', file_text: 'content' } },
  title: 'Write file',
  description:
    'Create a file, with missing directories, or replace one that has been read. The file is replaced whole or not at all.',
  toolset: 'files',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  reportsChanges: true,
  paths: ['file_path'],
  changes: ['file_path'],
  idempotent: true,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    content: z.string().describe('All of the new content'),
  }),
  output: z.object({ path: z.string(), bytes: z.int(), created: z.boolean(), ...postEditOutput }),
  async preview({ file_path: path, content: given }, { workspace, secrets }) {
    const isThere = await workspace.files.version(path);
    const before = isThere ? await workspace.files.read(path, { maxBytes: maxPreviewBytes }) : undefined;
    const content = await restoreSecrets(given, before && (() => before.bytes), path, secrets.marks);
    const diff = describeChange(before?.bytes ?? Buffer.alloc(0), Buffer.from(content));
    return `${before ? 'replace' : 'create'} ${path}\n\n${diff === '' ? content : diff}`;
  },
  async run({ file_path: path, content }, context) {
    const { workspace, session, secrets } = context;
    if (!content.isWellFormed()) throw new AppError('E_INVALID_INPUT', 'content holds half of a surrogate pair');
    const { written, change, replacement } = await changeSeenFile(context, path, async (current) => {
      if (current) session.reads.mustHaveSeen(workspace.name, current, 'overwrite', path);
      const whole = await restoreSecrets(content, current && (() => current.content()), path, secrets.marks);
      return { bytes: Buffer.from(whole), created: !current };
    });
    const { length } = change.bytes;
    return {
      text: `wrote ${length} bytes to ${path}`,
      structured: { path: written.path, bytes: length, created: change.created },
      touched: [written.path],
      replacement,
    };
  },
});
