import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const php: LanguageServerDefinition = {
  name: 'phpactor',
  languages: { '.php': 'php' },
  program: { kind: 'path', name: 'phpactor' },
  args: ['language-server'],
  ready: { kind: 'progress' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install phpactor from its phar, with PHP 8.2, and put it on the PATH of Croft.',
};
