import { z } from 'zod';
import { defineForm } from '../core/arguments/read-arguments.ts';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import type { SymbolQuestion } from '../core/code/ports/code-questions.ts';
import { applyPlan } from '../core/code/rename/apply-plan.ts';
import { renderPlan } from '../core/code/rename/plan-edits.ts';
import { planRename } from '../core/code/rename/plan-rename.ts';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

const dryRun = defineForm(z.object({ dry_run: z.boolean() }), ({ dry_run: isDry }) => ({ apply: !isDry }));

function toQuestion({
  new_name: newName,
  symbol,
  file_path,
  line,
  col,
}: { readonly new_name: string } & SymbolQuestion) {
  return { newName, symbol, file_path, line, col };
}

export const renameSymbol = defineTool({
  name: 'rename_symbol',
  aliases: ['lsp_rename', 'rename_symbol_strict'],
  spellings: { aliases: symbolAliases, forms: [dryRun] },
  title: 'Rename symbol',
  description:
    'Rename a symbol everywhere it is used, with its language server. Shows the diff; with apply, changes all files or ' +
    'none, as one step of undo. The file has to be read first.',
  toolset: 'code',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 120_000,
  input: z.object({
    ...symbolArguments,
    new_name: z.string({ error: 'new_name is required' }).min(1).max(1000).describe('The name it shall have'),
    apply: z.boolean().default(false).describe('Change the files; otherwise only show the diff'),
  }),
  output: z.object({
    applied: z.boolean(),
    files: z.array(z.object({ path: z.string(), edits: z.int() })),
    complete: z.boolean(),
    diff: z.string(),
    ...postEditOutput,
  }),
  async preview(call, context) {
    const { list, diff } = renderPlan(await planRename(toQuestion(call), context));
    return `rename to ${call.new_name}\n${list}\n\n${diff}`;
  },
  async run(call, context) {
    const plan = await planRename(toQuestion(call), context);
    const { files, complete, target } = plan;
    const { path, position } = target;
    if (files.length === 0) {
      const text = `no rename available at ${path}:${position.line + 1}:${position.character + 1}\n`;
      return { text, structured: { applied: false, files: [], complete, diff: '' } };
    }
    const { list, diff } = renderPlan(plan);
    const touched = call.apply ? await applyPlan(plan, context) : [];
    const done = call.apply ? 'touched' : 'would touch';
    const next = call.apply ? 'undo takes it back:' : 'Review the diff below; pass apply: true to make the change:';
    const warning = complete ? '' : '(the language server still reads the project: there may be more places)\n';
    return {
      text: `Rename → ${JSON.stringify(call.new_name)} ${done} ${files.length} file(s):\n${list}\n${warning}\n${next}\n\n${diff}\n`,
      structured: { applied: call.apply, files: files.map(({ path, edits }) => ({ path, edits })), complete, diff },
      touched,
    };
  },
});
