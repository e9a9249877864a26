import { z } from 'zod';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { moveWithImports } from '../core/code/rename/move-with-imports.ts';
import { planEdits, renderPlan } from '../core/code/rename/plan-edits.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

export const move = defineTool({
  name: 'move',
  aliases: ['Move', 'move_file'],
  spellings: { aliases: { source: 'from', destination: 'to', source_path: 'from', destination_path: 'to' } },
  title: 'Move file',
  description: 'Move or rename a file, a link or a directory. Never replaces what is there; makes missing directories.',
  toolset: 'files',
  isEveryday: true,
  access: 'write',
  reach: 'one',
  paths: ['from', 'to'],
  // Only `from` can be approved as a change: the content at `from` may differ by the time `to` is written.
  changes: ['from'],
  input: z.object({
    from: z.string().min(1).describe('Path of what to move, relative to the workspace root'),
    to: z.string().min(1).describe('Path it shall have, relative to the workspace root'),
    update_imports: z
      .boolean()
      .default(false)
      .describe('Change the imports of other files too, with the language server: all of it or nothing'),
  }),
  output: z.object({
    from: z.string(),
    to: z.string(),
    kind: z.enum(['file', 'directory', 'link', 'other']),
    updated: z
      .array(z.object({ path: z.string(), edits: z.int() }))
      .optional()
      .describe('Files whose imports were changed, by the paths that they had'),
    diff: z.string().optional(),
    ...postEditOutput,
  }),
  async preview({ from, to, update_imports: updates }, context) {
    const head = `move ${from} to ${to}`;
    if (!updates) return head;
    const { list, diff } = renderPlan(
      await planEdits(await context.workspace.code.move({ from, to }, context), context),
    );
    return `${head}, with the imports of other files\n${list}\n\n${diff}`;
  },
  async run({ from, to, update_imports: updates }, context) {
    if (updates) return runWithImports({ from, to }, context);
    const { workspace, session } = context;
    const moved = await workspace.files.rename(from, to);
    session.reads.forget(workspace.name, moved.from);
    // The moved file is checked again: its imports, and the lint rules for its new directory, may differ.
    return { text: `moved ${from} to ${to}`, structured: moved, touched: moved.kind === 'file' ? [moved.to] : [] };
  },
});

async function runWithImports(move: { readonly from: string; readonly to: string }, context: ToolContext) {
  const { kind, plan, touched } = await moveWithImports(move, context);
  context.session.reads.forget(context.workspace.name, move.from);
  const { diff } = renderPlan({ ...plan, moves: [] });
  const updated = plan.files.map(({ path, edits }) => ({ path, edits }));
  const head = `moved ${move.from} to ${move.to}; imports changed in ${updated.length} file(s)`;
  return { text: `${head}\n\n${diff}`.trimEnd(), structured: { ...move, kind, updated, diff }, touched: [...touched] };
}
