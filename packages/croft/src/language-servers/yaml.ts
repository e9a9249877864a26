import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const yaml: LanguageServerDefinition = {
  name: 'yaml-language-server',
  languages: { '.yaml': 'yaml', '.yml': 'yaml' },
  program: { kind: 'path', name: 'yaml-language-server' },
  args: ['--stdio'],
  settings: { yaml: { schemaStore: { enable: false } } },
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install yaml-language-server: npm install --global yaml-language-server.',
};
