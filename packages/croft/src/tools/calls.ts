import { z } from 'zod';
import { symbolAliases, symbolArguments } from '../core/code/symbols/symbol-arguments.ts';
import { defineTool } from '../core/tools/tool.ts';

export const calls = defineTool({
  name: 'calls',
  aliases: ['incomingCalls', 'callers'],
  spellings: { aliases: symbolAliases },
  title: 'Calls of a function',
  description: 'Show which functions call a function (in), or which ones it calls (out). Needs a language server.',
  toolset: 'code',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object({
    ...symbolArguments,
    direction: z.enum(['in', 'out']).default('in'),
    depth: z.int().min(1).max(3).default(1).describe('How many calls away (1, at most 3)'),
  }),
  output: z.object({
    items: z.array(
      z.object({
        path: z.string(),
        line: z.int(),
        col: z.int(),
        name: z.string(),
        kind: z.string(),
        depth: z.int(),
        repeated: z.boolean(),
        external: z.boolean(),
      }),
    ),
    complete: z.boolean(),
  }),
  async run(question, context) {
    const { target, nodes, complete } = await context.workspace.code.calls(question, context);
    const what = question.direction === 'in' ? 'calls to' : 'calls of';
    const head = `${nodes.length === 0 ? 'no' : nodes.length} ${what} ${target.word} (${target.path}:${target.position.line + 1})`;
    const rows = nodes.map(({ path, line, col, name, depth: level, isRepeated }) => {
      const again = isRepeated ? ' (shown above)' : '';
      return `${'  '.repeat(level)}${name} ${path}:${line}:${col}${again}`;
    });
    const note = complete ? [] : ['(the language server still reads the project: ask again)'];
    const items = nodes.map(({ isRepeated: repeated, isExternal: external, ...node }) => ({
      ...node,
      repeated,
      external,
    }));
    return { text: `${[head, ...rows, ...note].join('\n')}\n`, structured: { items, complete } };
  },
});
