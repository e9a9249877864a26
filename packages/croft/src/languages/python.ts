import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const python: LanguageSyntax = {
  id: 'python',
  extensions: ['py', 'pyi', 'pyw'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-python.wasm' },
  query: `
(class_definition name: (_) @name body: (_) @body) @def.class
(class_definition body: (block (function_definition name: (_) @name body: (_) @body) @def.constructor)
  (#eq? @name "__init__"))
(class_definition body: (block (decorated_definition (function_definition name: (_) @name body: (_) @body) @def.method)))
(class_definition body: (block (function_definition name: (_) @name body: (_) @body) @def.method))
(function_definition name: (_) @name body: (_) @body (#match? @name "^test_")) @def.test
(function_definition name: (_) @name body: (_) @body) @def.function
(module (expression_statement (assignment left: (identifier) @name right: (lambda body: (_) @body.expression)) @def.function))
(module (expression_statement (assignment left: (identifier) @name (#match? @name "^[A-Z][A-Z0-9_]*$")) @def.constant))
(module (expression_statement (assignment left: (identifier) @name) @def.variable))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @def.field)))
(type_alias_statement left: (type (identifier) @name)) @def.type
(function_definition body: (block . (expression_statement . (string) @docstring .)))
(class_definition body: (block . (expression_statement . (string) @docstring .)))
(comment) @comment
(decorator) @decorator
(string) @literal
`,
  wrappers: ['decorated_definition', 'expression_statement'],
  body: 'indented',
  isExported: ({ name }) => !name.startsWith('_') || name.startsWith('__'),
};
