import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { ToolContext } from '../../tools/tool.ts';
import type { Diagnostic } from '../ports/protocol-schemas.ts';
import { askFresh } from './ask-fresh.ts';
import { useServerOf } from './ask-or-search.ts';

/** In the order of the protocol, which numbers them from 1. */
export const severities = ['error', 'warning', 'information', 'hint'] as const;

export const CodeDiagnostic = z.object({
  line: z.int(),
  col: z.int(),
  severity: z.enum(severities),
  code: z.string().optional(),
  source: z.string().optional(),
  message: z.string(),
});
export type CodeDiagnostic = z.output<typeof CodeDiagnostic>;

const maxMessage = 500;

/** Returns what a server says of a file as it is on the disk; `undefined` if it has not said anything in time. */
export async function readDiagnostics(path: string, context: ToolContext): Promise<CodeDiagnostic[] | undefined> {
  const { kind, path: real } = await context.workspace.files.stat(path);
  if (kind !== 'file')
    throw new AppError('E_NOT_A_FILE', `path is a directory: ${path}; run_typecheck checks projects`);
  return useServerOf(real, context, async (server) => {
    await server.whenReady();
    return askFresh(server, async () => {
      const found = await server.diagnostics(real);
      return { answer: found?.map(toCodeDiagnostic).sort(bySeverity), files: [real] };
    });
  });
}

function toCodeDiagnostic({ range, severity = 1, code, source, message }: Diagnostic): CodeDiagnostic {
  return {
    line: range.start.line + 1,
    col: range.start.character + 1,
    severity: severities[severity - 1] ?? 'error',
    ...(code !== undefined && { code: String(code).slice(0, 100) }),
    ...(source !== undefined && { source: source.slice(0, 100) }),
    message: message.slice(0, maxMessage).toWellFormed(),
  };
}

function bySeverity(a: CodeDiagnostic, b: CodeDiagnostic): number {
  return severities.indexOf(a.severity) - severities.indexOf(b.severity) || a.line - b.line || a.col - b.col;
}

export function renderDiagnostics(path: string, shown: readonly CodeDiagnostic[], total: number): string {
  if (total === 0) return `${path}: no problems\n`;
  const rows = shown.map(({ line, col, severity, code, message }) => {
    const mark = code === undefined ? severity : `${severity} ${code}`;
    return `${path}:${line}:${col} ${mark}: ${message}`;
  });
  const more = total > shown.length ? [`(${total - shown.length} more)`] : [];
  return `${[...rows, ...more].join('\n')}\n`;
}
