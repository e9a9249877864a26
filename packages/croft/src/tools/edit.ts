import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { effectOutput } from '../core/checks/effect-output.ts';
import { applyEdits, checkEdit, type Edit } from '../core/content/apply-edits.ts';
import { changeSeen } from '../core/content/change-seen.ts';
import { describeChange } from '../core/content/describe-change.ts';
import { defineTool } from '../core/tool.ts';

const oldString = z
  .string()
  .describe('Text to replace, exactly as it is in the file; must be unique unless replace_all');
const newString = z.string().describe('Text to put there; may be empty');
const replaceAll = z.boolean().optional().describe('Replace every occurrence');

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  old_string: oldString.optional(),
  new_string: newString.optional(),
  replace_all: replaceAll,
  edits: z
    .array(z.object({ old_string: oldString, new_string: newString, replace_all: replaceAll }))
    .min(1)
    .max(200)
    .optional()
    .describe('Several replacements instead of one'),
});
type Input = z.output<typeof input>;

export const edit = defineTool({
  name: 'edit',
  aliases: ['Edit', 'file-edit', 'FileReplace', 'edit_file'],
  argumentAliases: { path: 'file_path' },
  title: 'Edit file',
  description:
    'Replace text in a file that has been read: one replacement by old_string and new_string, or a list of them in edits, ' +
    'applied in order, all or none. Answers with a diff.',
  access: 'write',
  reach: 'one',
  tells: true,
  paths: ['file_path'],
  input,
  output: z.object({ path: z.string(), replaced: z.int(), diff: z.string(), ...effectOutput }),
  async preview(call, { workspace, session }) {
    const { file_path: path } = call;
    const before = await workspace.files.read(path);
    session.reads.mustHaveSeen(workspace.name, before, 'edit', path);
    const { bytes } = applyEdits(before.bytes, toEdits(call), path);
    return `edit ${path}\n\n${describeChange(before.bytes, bytes)}`;
  },
  async run(call, context) {
    const { workspace, session } = context;
    const { file_path: path } = call;
    const edits = toEdits(call);
    const { written, change, replacement } = await changeSeen(context, path, (current) => {
      if (!current) throw missing(path);
      const before = current.content();
      session.reads.mustHaveSeen(workspace.name, current, 'edit', path);
      return { before, ...applyEdits(before, edits, path) };
    });
    const { before, bytes, replaced } = change;
    const diff = describeChange(before, bytes);
    const done = `replaced ${replaced} occurrence(s) in ${path}`;
    return {
      text: diff === '' ? done : `${done}\n\n${diff}`,
      structured: { path: written.path, replaced, diff },
      touched: [written.path],
      replacement,
    };
  },
});

function toEdits(call: Input): readonly Edit[] {
  const edits = listEdits(call);
  edits.forEach(checkEdit);
  return edits;
}

function listEdits({ edits, old_string, new_string, replace_all }: Input): readonly Edit[] {
  if (edits && old_string !== undefined) throw invalid('pass either old_string and new_string, or edits');
  if (edits) return edits.map((edit) => ({ ...edit, replace_all: edit.replace_all ?? replace_all }));
  if (old_string === undefined) throw invalid('old_string is required');
  if (new_string === undefined) throw invalid('new_string is required');
  return [{ old_string, new_string, replace_all }];
}

function missing(path: string): AppError {
  return new AppError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
}

function invalid(message: string): AppError {
  return new AppError('E_INVALID_INPUT', message);
}
