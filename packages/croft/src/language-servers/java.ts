import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const java: LanguageServerDefinition = {
  name: 'jdtls',
  languages: { '.java': 'java' },
  program: { kind: 'path', name: 'jdtls' },
  args: ['-data', '/tmp/jdtls'],
  safe: { settings: { java: { import: { gradle: { enabled: false }, maven: { enabled: false } } } } },
  ready: { kind: 'notification', method: 'language/status', field: 'type', value: 'ServiceReady' },
  memoryBytes: 3 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install Java 21 and the Eclipse JDT language server (jdtls), and put jdtls on the PATH of Croft.',
};
