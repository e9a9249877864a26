import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const kotlin: LanguageServerDefinition = {
  name: 'kotlin-lsp',
  languages: { '.kt': 'kotlin', '.kts': 'kotlin' },
  program: { kind: 'path', name: 'kotlin-lsp' },
  args: ['--stdio'],
  safe: { refusal: 'kotlin-lsp runs Gradle' },
  ready: { kind: 'progress' },
  memoryBytes: 3 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install kotlin-lsp from its release archive, and put it on the PATH of Croft.',
};
