import type { SourceText } from '../ports/source-text.ts';

const vendoredDirectories = new Set([
  ...['node_modules', 'vendor', 'third_party', 'site-packages', '.venv', 'venv', 'bower_components', 'target', 'dist'],
]);
const headLines = 5;

/** Whether a file belongs to somebody else's code, which nobody edits here. */
export function isVendored(path: string): boolean {
  return path
    .split('/')
    .slice(0, -1)
    .some((name) => vendoredDirectories.has(name));
}

/** Whether the first lines say that a program writes the file. */
export function isGenerated(source: SourceText | undefined): boolean {
  const head = source?.lines.slice(0, headLines).join('\n') ?? '';
  return head.includes('@generated') || head.includes('DO NOT EDIT');
}
