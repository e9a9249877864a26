import { AppError } from '@croft/protocol';
import { type CodeDiagnostic, severities } from '../ports/code-answers.ts';
import type { DiagnosticsQuestion, FileDiagnostics } from '../ports/code-questions.ts';
import type { Diagnostic } from '../ports/protocol-schemas.ts';
import { useServerOf } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';

const maxMessage = 500;

/** Returns the diagnostics of a file as it is on the disk. */
export async function readDiagnostics(
  { path: given, onlyRunning = false }: DiagnosticsQuestion,
  context: CodeContext,
): Promise<FileDiagnostics> {
  if (onlyRunning && !isRunningFor(given, context)) return { path: given, isAsked: false };
  const { kind, path } = await context.workspace.files.stat(given);
  if (kind !== 'file')
    throw new AppError('E_NOT_A_FILE', `path is a directory: ${given}; run_typecheck checks projects`);
  return useServerOf(path, context, async (server) => {
    await server.whenReady(path);
    return askUntilFresh(server, async () => {
      const items = (await server.diagnostics(path))?.map(toCodeDiagnostic).sort(bySeverity);
      return { answer: { path, isAsked: true, ...(items && { items }) }, files: [path] };
    });
  });
}

function isRunningFor(path: string, { workspace: { languageServers } }: CodeContext): boolean {
  if (typeof languageServers === 'string') return false;
  const definition = languageServers.definitionFor(path);
  return definition !== undefined && languageServers.isRunning(definition.name);
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
