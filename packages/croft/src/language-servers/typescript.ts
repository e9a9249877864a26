import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';

/** The native TypeScript server. It runs no code of the repository: plugins of a tsconfig are ignored. */
export const typescript: LanguageServerDefinition = {
  name: 'typescript',
  languages: {
    ...{ '.ts': 'typescript', '.mts': 'typescript', '.cts': 'typescript', '.tsx': 'typescriptreact' },
    ...{ '.js': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript', '.jsx': 'javascriptreact' },
  },
  program: {
    kind: 'package',
    packages: ['typescript', `@typescript/typescript-linux-${architecture}`],
    file: 'lib/tsc',
  },
  args: ['--lsp', '--stdio'],
  environment: { GOMEMLIMIT: '800MiB', GOMAXPROCS: '2' },
  ready: { kind: 'always' },
  memoryBytes: gigabyte,
  idleMs,
  reservedWords: [
    'await break case catch class const continue debugger default delete do else enum export extends',
    'false finally for function if import in instanceof new null return super switch this throw true',
    'try typeof var void while with yield let static implements interface package private protected',
    'public',
  ].flatMap((words) => words.split(' ')),
  install: 'It comes with Croft: run npm install again.',
};
