import type { LanguageSyntax } from '../../core/code/language-syntax.ts';
import { isVisible, sharedQuery } from './shared-query.ts';

export const c: LanguageSyntax = {
  id: 'c',
  extensions: ['c'],
  grammar: { package: '@repomix/tree-sitter-wasms', file: 'out/tree-sitter-c.wasm' },
  query: sharedQuery,
  wrappers: [],
  body: 'braces',
  isExported: isVisible,
};
