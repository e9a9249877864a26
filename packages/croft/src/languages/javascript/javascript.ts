import type { LanguageSyntax } from '../../core/code/language-syntax.ts';
import { isExportedName, sharedQuery, sharedWrappers } from './shared-query.ts';

export const javascript: LanguageSyntax = {
  id: 'javascript',
  extensions: ['js', 'jsx', 'mjs', 'cjs'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-javascript.wasm' },
  query: `${sharedQuery}
(field_definition property: (_) @name value: [
  (arrow_function body: (statement_block) @body)
  (function_expression body: (_) @body)]) @def.method
(field_definition property: (_) @name value: (arrow_function body: (_) @body.expression)) @def.method
(field_definition property: (_) @name) @def.field
`,
  wrappers: sharedWrappers,
  body: 'braces',
  isExported: isExportedName,
};
