import { gigabyte, type LanguageServerDefinition, longIdleMs } from '../core/code/ports/language-server-definition.ts';

export const rustAnalyzer: LanguageServerDefinition = {
  name: 'rust-analyzer',
  languages: { '.rs': 'rust' },
  projectFile: 'Cargo.toml',
  program: { kind: 'path', name: 'rust-analyzer' },
  args: [],
  settings: {
    'rust-analyzer': {
      cachePriming: { enable: false },
      checkOnSave: false,
      cargo: { targetDir: '/tmp/rust-analyzer', offline: true },
      files: { watcher: 'client' },
    },
  },
  safe: {
    settings: {
      'rust-analyzer': {
        cachePriming: { enable: false },
        checkOnSave: false,
        cargo: { targetDir: '/tmp/rust-analyzer', offline: true, buildScripts: { enable: false } },
        procMacro: { enable: false },
        files: { watcher: 'client' },
      },
    },
  },
  ready: { kind: 'notification', method: 'experimental/serverStatus', field: 'quiescent', value: true },
  memoryBytes: 3 * gigabyte,
  idleMs: longIdleMs,
  install: 'Install rust-analyzer: rustup component add rust-analyzer.',
};
