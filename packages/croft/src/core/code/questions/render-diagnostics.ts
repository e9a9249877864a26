import type { CodeDiagnostic } from '../ports/code-answers.ts';

export function renderDiagnostics(path: string, shown: readonly CodeDiagnostic[], total: number): string {
  if (total === 0) return `${path}: no problems\n`;
  const rows = shown.map((one) => renderDiagnostic(path, one));
  const more = total > shown.length ? [`(${total - shown.length} more)`] : [];
  return `${[...rows, ...more].join('\n')}\n`;
}

export function renderDiagnostic(path: string, { line, col, severity, code, message }: CodeDiagnostic): string {
  const mark = code === undefined ? severity : `${severity} ${code}`;
  return `${path}:${line}:${col} ${mark}: ${message}`;
}
