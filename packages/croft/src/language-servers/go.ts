import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const gopls: LanguageServerDefinition = {
  name: 'gopls',
  languages: { '.go': 'go', 'go.mod': 'go.mod' },
  program: { kind: 'path', name: 'gopls' },
  args: ['serve'],
  environment: {
    GOTOOLCHAIN: 'local',
    GOPROXY: 'off',
    GOFLAGS: '-mod=readonly',
    GOMEMLIMIT: '1600MiB',
    GOMAXPROCS: '2',
  },
  safe: { refusal: 'gopls runs the go command, which runs cgo' },
  ready: { kind: 'progress' },
  memoryBytes: 2 * gigabyte,
  idleMs,
  install: 'Install gopls: go install golang.org/x/tools/gopls@latest, and put it on the PATH of Croft.',
};
