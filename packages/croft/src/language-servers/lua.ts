import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const lua: LanguageServerDefinition = {
  name: 'lua-language-server',
  languages: { '.lua': 'lua' },
  program: { kind: 'path', name: 'lua-language-server' },
  args: [],
  settings: { Lua: { workspace: { checkThirdParty: false }, telemetry: { enable: false } } },
  safe: { refusal: 'a .luarc file can name a plugin that it runs' },
  ready: { kind: 'progress' },
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install lua-language-server from its release archive, and put it on the PATH of Croft.',
};
