import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const elixir: LanguageServerDefinition = {
  name: 'expert',
  languages: { '.ex': 'elixir', '.exs': 'elixir' },
  program: { kind: 'path', name: 'expert' },
  args: ['--stdio'],
  safe: { refusal: 'it compiles the project, which runs its macros' },
  ready: { kind: 'progress' },
  memoryBytes: 2 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install Expert, the Elixir language server, and put it on the PATH of Croft.',
};
