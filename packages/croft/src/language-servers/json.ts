import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const json: LanguageServerDefinition = {
  name: 'vscode-json-language-server',
  languages: { '.json': 'json', '.jsonc': 'jsonc' },
  program: { kind: 'path', name: 'vscode-json-language-server' },
  args: ['--stdio'],
  initializationOptions: { provideFormatter: false, handledSchemaProtocols: ['file'] },
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install the servers for JSON, HTML and CSS: npm install --global vscode-langservers-extracted.',
};
