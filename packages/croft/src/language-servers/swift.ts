import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const swift: LanguageServerDefinition = {
  name: 'sourcekit-lsp',
  languages: { '.swift': 'swift' },
  program: { kind: 'path', name: 'sourcekit-lsp' },
  args: [],
  safe: { refusal: 'it runs Package.swift' },
  ready: { kind: 'progress' },
  memoryBytes: 2 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install the Swift toolchain, which has sourcekit-lsp.',
};
