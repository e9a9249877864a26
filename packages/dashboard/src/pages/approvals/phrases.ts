const phrases: Readonly<Record<string, string>> = {
  bash: 'wants to run a command',
  write: 'wants to write a file',
  edit: 'wants to edit a file',
  multi_edit: 'wants to edit a file',
  delete: 'wants to delete',
  move: 'wants to move a file',
  run_tests: 'wants to run tests',
};

export function toPhrase(tool: string): string {
  return phrases[tool] ?? `wants to call ${tool}`;
}
