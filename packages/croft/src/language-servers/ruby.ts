import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const ruby: LanguageServerDefinition = {
  name: 'ruby-lsp',
  languages: { '.rb': 'ruby', '.rake': 'ruby' },
  program: { kind: 'path', name: 'ruby-lsp' },
  args: [],
  safe: { refusal: 'ruby-lsp runs the Gemfile and add-ons' },
  ready: { kind: 'progress' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install ruby-lsp: gem install ruby-lsp.',
};
