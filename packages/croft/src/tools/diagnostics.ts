import { z } from 'zod';
import { lenientCount } from '../core/arguments/lenient-count.ts';
import { CodeDiagnostic, severities } from '../core/code/ports/code-answers.ts';
import { renderDiagnostics } from '../core/code/questions/render-diagnostics.ts';
import { defineTool } from '../core/tools/tool.ts';

export const diagnostics = defineTool({
  name: 'diagnostics',
  aliases: ['get_diagnostics', 'get_errors', 'lsp_diagnostics'],
  spellings: { aliases: { path: 'file_path', relative_path: 'file_path', uri: 'file_path' } },
  title: 'Diagnostics of a file',
  description:
    'Show what the language server says of a file as it is now: errors and warnings. run_typecheck checks whole projects.',
  toolset: 'code',
  access: 'read',
  reach: 'one',
  paths: ['file_path'],
  timeoutMs: 90_000,
  input: z.object({
    file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
    severity: z.enum(severities).default('warning').describe('The least severity to show'),
    limit: lenientCount({ fallback: 50, max: 1000 }).describe('Most to show (50)'),
  }),
  output: z.object({
    path: z.string(),
    known: z.boolean().describe('False: the server has not said anything about this version yet'),
    items: z.array(CodeDiagnostic),
    total: z.int(),
  }),
  async run({ file_path: path, severity, limit }, context) {
    const { items: all } = await context.workspace.code.diagnostics({ path }, context);
    const wanted = severities.slice(0, severities.indexOf(severity) + 1);
    const items = (all ?? []).filter((item) => wanted.includes(item.severity));
    const shown = items.slice(0, limit);
    const text = all
      ? renderDiagnostics(path, shown, items.length)
      : `diagnostics of ${path}: not known yet; ask again\n`;
    return { text, structured: { path, known: all !== undefined, items: shown, total: items.length } };
  },
});
