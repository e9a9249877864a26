import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

/** Pyright. It runs the Python of the sandbox's PATH to find libraries, and no Python of the workspace. */
export const python: LanguageServerDefinition = {
  name: 'pyright',
  languages: { '.py': 'python', '.pyi': 'python' },
  program: { kind: 'package', packages: ['pyright'], file: 'langserver.index.js', isScript: true },
  args: ['--stdio'],
  environment: { NODE_OPTIONS: '--max-old-space-size=1536' },
  settings: {
    python: { analysis: { diagnosticMode: 'openFilesOnly', autoSearchPaths: true, useLibraryCodeForTypes: true } },
  },
  ready: { kind: 'log', pattern: /^(Found \d+ source files?|No source files found)/, isRepeated: true },
  memoryBytes: 2 * gigabyte,
  idleMs,
  reservedWords: [
    'False None True and as assert async await break class continue def del elif else except finally',
    'for from global if import in is lambda nonlocal not or pass raise return try while with yield',
  ].flatMap((words) => words.split(' ')),
  install: 'It comes with Croft: run npm install again.',
};
