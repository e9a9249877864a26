import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { applyPlan } from '../core/code/rename/apply-plan.ts';
import { planEdits, renderPlan } from '../core/code/rename/plan-edits.ts';
import { defineTool } from '../core/tools/tool.ts';

export const codeActions = defineTool({
  name: 'code_actions',
  toolset: 'code',
  aliases: ['lsp_code_actions'],
  spellings: { aliases: { path: 'file_path', relative_path: 'file_path', start_line: 'line' } },
  title: 'Changes that the language server proposes',
  description:
    'List the changes that the language server proposes for some lines: quick fixes, organized imports. With apply, makes ' +
    'one of them, in all files or none. The file has to be read first.',
  access: 'write',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 120_000,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    line: z.int().min(1).describe('First line, from 1'),
    end_line: z.int().min(1).optional().describe('Last line; line if left out'),
    kind: z.string().max(100).optional().describe('Only this kind, such as quickfix or source.organizeImports'),
    apply: z.int().min(1).optional().describe('Number of the change to make, as listed'),
  }),
  output: z.object({
    actions: z.array(z.object({ number: z.int(), title: z.string(), kind: z.string(), files: z.int() })),
    applied: z.string().optional(),
    diff: z.string().optional(),
    ...postEditOutput,
  }),
  async run({ apply, ...question }, context) {
    const proposed = await context.workspace.code.actions(question, context);
    const actions = proposed.map(({ title, kind, edits }, index) => ({
      ...{ number: index + 1, title, kind, files: edits?.files.length ?? 0 },
    }));
    const rows = actions.map(({ number, title, kind }) => `  ${number}. ${title}${kind === '' ? '' : ` (${kind})`}`);
    if (apply === undefined) {
      const head = rows.length === 0 ? 'the language server proposes nothing for these lines' : 'proposed changes:';
      return { text: `${[head, ...rows].join('\n')}\n`, structured: { actions } };
    }
    const chosen = proposed[apply - 1];
    if (!chosen?.edits)
      throw new AppError('E_INVALID_INPUT', `there is no change ${apply} to make; proposed:\n${rows.join('\n')}`);
    const { workspace, session } = context;
    const plan = await planEdits(chosen.edits, context);
    for (const { path, version } of plan.files) {
      const file = { ...(await workspace.files.stat(path)), version };
      session.reads.mustHaveSeen(workspace.name, file, 'change', path);
    }
    const touched = await applyPlan(plan, context);
    const { list, diff } = renderPlan(plan);
    const text = `${chosen.title}: changed ${touched.length} file(s):\n${list}\n\n${diff}\n`;
    return { text, structured: { actions, applied: chosen.title, diff }, touched };
  },
});
