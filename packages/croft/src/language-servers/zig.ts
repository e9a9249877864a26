import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const zig: LanguageServerDefinition = {
  name: 'zls',
  languages: { '.zig': 'zig' },
  program: { kind: 'path', name: 'zls' },
  args: [],
  safe: { refusal: 'it runs build.zig' },
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install zls in the version of your Zig, and put it on the PATH of Croft.',
};
