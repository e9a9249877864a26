import { gigabyte, idleMs, type LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

export const clangd: LanguageServerDefinition = {
  name: 'clangd',
  languages: {
    ...{ '.c': 'c', '.h': 'c', '.cc': 'cpp', '.cpp': 'cpp', '.cxx': 'cpp' },
    ...{ '.hh': 'cpp', '.hpp': 'cpp', '.hxx': 'cpp', '.m': 'objective-c', '.mm': 'objective-cpp' },
  },
  program: { kind: 'path', name: 'clangd' },
  args: ['--background-index', '-j=2', '--pch-storage=disk', '--enable-config=false'],
  ready: { kind: 'progress' },
  rereadsOnlyOpen: true,
  memoryBytes: gigabyte,
  idleMs,
  install: 'Install clangd: apt install clangd.',
};
