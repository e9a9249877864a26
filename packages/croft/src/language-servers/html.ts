import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const html: LanguageServerDefinition = {
  name: 'vscode-html-language-server',
  languages: { '.html': 'html', '.htm': 'html' },
  program: { kind: 'path', name: 'vscode-html-language-server' },
  args: ['--stdio'],
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install the servers for JSON, HTML and CSS: npm install --global vscode-langservers-extracted.',
};
