import type { Approval } from '@croft/protocol';
import { toOneLine } from '../../text/mark-hidden-characters.ts';
import { parseUnifiedDiff } from '../../text/unified-diff.ts';

const phrases: Readonly<Record<string, string>> = {
  bash: 'wants to run a command',
  write: 'wants to write a file',
  edit: 'wants to edit a file',
  multi_edit: 'wants to edit a file',
  delete: 'wants to delete',
  move: 'wants to move a file',
  run_tests: 'wants to run tests',
};

/** The call in one line: its command, or its file and how much of it changes. */
export function toSummary({ input, preview, tool }: Pick<Approval, 'input' | 'preview' | 'tool'>): string {
  const { command, file_path: file, path } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const [named] = [command, file, path].filter((value) => typeof value === 'string');
  if (!/^@@ -\d/m.test(preview)) return toOneLine(named ?? (preview || tool), 160);
  const { added, removed } = parseUnifiedDiff(preview);
  return `${toOneLine(named ?? '', 120)} +${added} −${removed}`;
}

export function toPhrase(tool: string): string {
  return phrases[tool] ?? `wants to call ${tool}`;
}
