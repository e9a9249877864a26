import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { outlineDirectory } from '../core/code/outline/outline-directory.ts';
import { renderRepoMap } from '../core/code/outline/render-repo-map.ts';
import { defineTool, type ToolContext } from '../core/tools/tool.ts';

/** Definitions that a token of the answer has room for at most. */
const symbolsPerToken = 0.2;
/** Files of the session that count as its focus: those it read last. */
const maxSeen = 50;

const focus = z
  .union([z.string(), z.array(z.string()).max(20)])
  .optional()
  .transform((given) => (given === undefined ? [] : [given].flat()).filter((each) => each !== ''));

export const repoMap = defineTool({
  name: 'repo_map',
  toolset: 'code',
  aliases: ['view_repo_map', 'repository_map', 'get_repo_map'],
  spellings: { aliases: { max_tokens: 'tokens', token_budget: 'tokens', path: 'focus', files: 'focus' } },
  title: 'Map the workspace',
  description:
    'Show the definitions that the rest of the code depends on most, with their signatures, by file and within a number ' +
    'of tokens. A first look at a workspace that is new to you.',
  access: 'read',
  reach: 'one',
  timeoutMs: 60_000,
  input: z.object({
    tokens: lenientCount({ fallback: 1500, max: 10_000 }).describe('Size of the answer, about (1500)'),
    focus: focus.describe('Files, directories or names that matter more; what they use comes first'),
  }),
  output: z.object({
    items: z.array(
      z.object({ path: z.string(), line: z.int(), kind: z.string(), name: z.string(), signature: z.string() }),
    ),
    total: z.int().describe('How many definitions were rated'),
    complete: z.boolean().describe('Every file is in the map as it is now'),
  }),
  async run(call, context) {
    const { workspace, signal } = context;
    const wanted = call.focus.length > 0 ? call.focus : listSeen(context);
    const limit = Math.ceil(call.tokens * symbolsPerToken);
    const map = await workspace.codeIndex?.map({ focus: wanted, limit }, signal);
    if (!map) return outlineInstead(context);
    const { text, shown } = renderRepoMap(map.symbols, call.tokens);
    return {
      text,
      notices: [
        ...(shown === 0 ? ['No definitions in a known language.\n'] : []),
        ...(map.isComplete ? [] : ['(the index is still being built: ask again for the whole map)\n']),
      ],
      structured: { items: map.symbols.slice(0, shown), total: map.symbols.length, complete: map.isComplete },
    };
  },
});

function listSeen({ session, workspace }: ToolContext): string[] {
  const own = [...session.reads.seen].filter(([name]) => name === workspace.name);
  return own.slice(-maxSeen).map(([, path]) => path);
}

/** Answers with an outline, because only the index knows which files mention which definitions. */
async function outlineInstead(context: ToolContext) {
  const { text } = await outlineDirectory('', context);
  return {
    text,
    notices: ['(this workspace has no index yet: an outline instead of a map)\n'],
    structured: { items: [], total: 0, complete: false },
  };
}
