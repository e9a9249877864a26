import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { defineForm } from '../core/arguments/read-arguments.ts';
import { postEditOutput } from '../core/checks/post-edit/post-edit-output.ts';
import { planReplacements } from '../core/code/patterns/plan-replacements.ts';
import { searchByPattern } from '../core/code/patterns/search-by-pattern.ts';
import { applyPlan } from '../core/code/rename/apply-plan.ts';
import { renderPlan } from '../core/code/rename/plan-edits.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

const maxMatches = 5000;
const dryRun = defineForm(z.object({ dry_run: z.boolean() }), ({ dry_run: isDry }) => ({ apply: !isDry }));

const input = z.object({
  pattern: z.string().min(1).describe('Code to find; $NAME stands for one part, $$$NAME for any number of them'),
  rewrite: z.string().describe('Code to put there, with the names of the pattern: bar($$$NAME)'),
  language: z.string().min(1).describe('Language of the pattern, such as typescript'),
  path: z.string().default('').describe('File or directory to change; the root if left out'),
  apply: z.boolean().default(false).describe('Change the files; otherwise only show the diff'),
});

export const astReplace = defineTool({
  name: 'ast_replace',
  aliases: ['ast_grep_replace'],
  spellings: { aliases: { lang: 'language', replacement: 'rewrite', dir_path: 'path' }, forms: [dryRun] },
  title: 'Replace by syntax',
  description:
    'Replace code by its structure in all files: pattern as in ast_search, rewrite with the names of the pattern. Shows ' +
    'the diff; with apply, changes all files or none, as one step of undo.',
  toolset: 'code',
  access: 'write',
  reach: 'one',
  paths: ['path'],
  timeoutMs: 60_000,
  input,
  output: z.object({
    applied: z.boolean(),
    files: z.array(z.object({ path: z.string(), edits: z.int() })),
    diff: z.string(),
    ...postEditOutput,
  }),
  async preview(call, context) {
    const { list, diff } = renderPlan((await plan(call, context)).plan);
    return `replace ${call.pattern} by ${call.rewrite}\n${list}\n\n${diff}`;
  },
  async run(call, context) {
    const { plan: planned, notes } = await plan(call, context);
    const { files } = planned;
    if (files.length === 0) {
      const structured = { applied: false, files: [], diff: '' };
      return { text: '', notices: ['No match: nothing was changed.\n', ...notes], structured };
    }
    const { list, diff } = renderPlan(planned);
    const touched = call.apply ? await applyPlan(planned, context) : [];
    const done = call.apply ? 'changed' : 'would change';
    const next = call.apply ? 'undo takes it back:' : 'Review the diff below; pass apply: true to make the change:';
    return {
      text: `The rewrite ${done} ${files.length} file(s):\n${list}\n\n${next}\n\n${diff}\n`,
      structured: { applied: call.apply, files: files.map(({ path, edits }) => ({ path, edits })), diff },
      touched,
    };
  },
});

async function plan(call: z.output<typeof input>, context: ToolContext) {
  const { workspace, signal } = context;
  const { path: scope } = await workspace.files.stat(call.path);
  const { matches, isComplete, notes } = await searchByPattern(workspace, {
    ...call,
    scope,
    limit: maxMatches,
    signal,
  });
  if (!isComplete) {
    const why = `nothing was changed: there are more than ${maxMatches} matches, or some that are too long; narrow path`;
    throw new AppError('E_INVALID_INPUT', why);
  }
  return { plan: await planReplacements(matches, context), notes };
}
