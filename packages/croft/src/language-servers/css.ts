import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const css: LanguageServerDefinition = {
  name: 'vscode-css-language-server',
  languages: { '.css': 'css', '.scss': 'scss', '.less': 'less' },
  program: { kind: 'path', name: 'vscode-css-language-server' },
  args: ['--stdio'],
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install the servers for JSON, HTML and CSS: npm install --global vscode-langservers-extracted.',
};
