import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { checkEdit, type Edit } from '../core/content/edit/apply-edits.ts';
import { applyLineEdits, type LineEdit } from '../core/content/edit/apply-line-edits.ts';
import { changeSeenFile } from '../core/content/edit/change-seen-file.ts';
import { describeChange } from '../core/content/edit/describe-change.ts';
import { applyEditsWithSecrets, mustHaveNoMark } from '../core/content/edit/restore-secrets.ts';
import type { FileVersion } from '../core/files/files.ts';
import { fileNotFound } from '../core/files/path-errors.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

const text = z.string();
const flag = z.boolean().optional();
const line = z.int().min(1).optional();

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  old_string: text
    .optional()
    .describe('Text to replace, exactly as it is in the file; must be unique unless replace_all'),
  new_string: text.optional().describe('Text to put there; may be empty'),
  replace_all: flag.describe('Replace every occurrence'),
  start_line: line.describe(
    'First of the lines to change, as read last showed them; old_string is looked for only there',
  ),
  end_line: line.describe('Last of them; start_line if left out'),
  edits: z
    .array(
      z.strictObject({
        old_string: text.optional(),
        new_string: text,
        replace_all: flag,
        start_line: line,
        end_line: line,
      }),
    )
    .min(1)
    .max(200)
    .optional()
    .describe('Several replacements instead of one, each with the arguments above'),
});
type Input = z.output<typeof input>;
type Written = NonNullable<Input['edits']>[number];

/** Argument names that other systems use. */
const aliases = {
  path: 'file_path',
  ...{ old_str: 'old_string', old_text: 'old_string', find: 'old_string' },
  ...{ new_str: 'new_string', new_text: 'new_string', replace: 'new_string' },
};
const refusals = {
  regex: 'text is replaced as it is written; find it with grep, and pass what is there as old_string',
};

export const edit = defineTool({
  name: 'edit',
  aliases: ['Edit', 'file-edit', 'FileReplace', 'edit_file'],
  spellings: { aliases, refusals },
  title: 'Edit file',
  description:
    'Replace text in a file that has been read: one replacement by old_string and new_string, or a list of them in edits, ' +
    'applied in order, all or none. With start_line, only in those lines; without old_string, in place of them. Answers ' +
    'with a diff.',
  toolset: 'files',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  reportsChanges: true,
  paths: ['file_path'],
  changes: ['file_path'],
  input,
  output: z.object({ path: z.string(), replaced: z.int(), diff: z.string(), ...postEditOutput }),
  async preview(call, context) {
    const { workspace, session } = context;
    const { file_path: path } = call;
    const before = await workspace.files.read(path);
    session.reads.mustHaveSeen(workspace.name, before, 'edit', path);
    const { bytes } = await apply(before, before.bytes, toEdits(call), context);
    return `edit ${path}\n\n${describeChange(before.bytes, bytes)}`;
  },
  async run(call, context) {
    const { workspace, session } = context;
    const { file_path: path } = call;
    const edits = toEdits(call);
    const { written, change, replacement } = await changeSeenFile(context, path, async (current) => {
      if (!current) throw fileNotFound(path);
      const before = await current.content();
      session.reads.mustHaveSeen(workspace.name, current, 'edit', path);
      return { before, ...(await apply(current, before, edits, context)) };
    });
    const { before, bytes, replaced } = change;
    const diff = describeChange(before, bytes);
    const done =
      replaced === 0
        ? `nothing was changed in ${path}: old_string and new_string are the same`
        : `replaced ${replaced} occurrence(s) in ${path}`;
    return {
      text: diff === '' ? done : `${done}\n\n${diff}`,
      structured: { path: written.path, replaced, diff },
      touched: [written.path],
      replacement,
    };
  },
});

interface Edits {
  readonly path: string;
  /** Edits without line numbers, applied one after the other anywhere in the file. */
  readonly anywhere: readonly Edit[];
  /** Edits that apply only to the lines they name. */
  readonly inLines: readonly LineEdit[];
}

async function apply(file: FileVersion, before: Buffer, { path, anywhere, inLines }: Edits, context: ToolContext) {
  const { workspace, session, secrets } = context;
  if (inLines.length === 0) return applyEditsWithSecrets(before, anywhere, path, secrets.marks);
  for (const { old_string = '', new_string } of inLines) mustHaveNoMark(old_string + new_string, path, secrets.marks);
  const edited = applyLineEdits(before, inLines, path);
  // An edit with old_string shows which lines it means. An edit by line number alone must name lines that were just
  // read.
  for (const edit of inLines)
    if (edit.old_string === undefined) session.reads.mustHaveShown(workspace.name, file, edit, path);
  return edited;
}

function toEdits(call: Input): Edits {
  const all = listEdits(call);
  const inLines = all.flatMap(toLineEdit);
  if (inLines.length > 0 && inLines.length < all.length)
    throw invalid(
      'edits by line and edits without lines cannot be mixed: numbers count before the call; make two calls',
    );
  const anywhere = inLines.length > 0 ? [] : all.map(toEdit);
  for (const { old_string = 'x', new_string } of all) checkEdit({ old_string, new_string });
  return { path: call.file_path, anywhere, inLines };
}

function listEdits({ edits, file_path: _, ...one }: Input): readonly Written[] {
  const { old_string, new_string, replace_all, start_line, end_line } = one;
  const isOne = [old_string, new_string, start_line, end_line].some((value) => value !== undefined);
  if (edits && isOne) throw invalid('pass either one replacement, or edits');
  if (edits) return edits.map((edit) => ({ ...edit, replace_all: edit.replace_all ?? replace_all }));
  if (old_string === undefined && start_line === undefined) throw invalid('old_string is required');
  if (new_string === undefined) throw invalid('new_string is required');
  return [{ ...one, new_string }];
}

function toLineEdit({ start_line: first, end_line, ...edit }: Written): LineEdit[] {
  if (first === undefined && end_line !== undefined) throw invalid('end_line needs start_line');
  return first === undefined ? [] : [{ ...edit, first, last: end_line ?? first }];
}

function toEdit({ old_string, new_string, replace_all }: Written): Edit {
  if (old_string === undefined) throw invalid('old_string is required');
  return { old_string, new_string, replace_all };
}

function invalid(message: string): AppError {
  return new AppError('E_INVALID_INPUT', message);
}
