import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const java: LanguageSyntax = {
  id: 'java',
  extensions: ['java'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-java.wasm' },
  query: `
(class_declaration name: (_) @name body: (_) @body) @def.class
(record_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(constructor_declaration name: (_) @name body: (_) @body) @def.constructor
(method_declaration name: (_) @name body: (_)? @body) @def.method
(field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (_) @name)) @def.constant
(field_declaration declarator: (variable_declarator name: (_) @name)) @def.field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @def.constant
(line_comment) @comment
(block_comment) @comment
(marker_annotation) @decorator
(annotation) @decorator
(string_literal) @literal
`,
  wrappers: [],
  body: 'braces',
  isExported: ({ signature }) => /\bpublic\b/.test(signature),
};
