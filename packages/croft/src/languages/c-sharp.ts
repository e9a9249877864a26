import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const cSharp: LanguageSyntax = {
  id: 'csharp',
  extensions: ['cs'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-c-sharp.wasm' },
  query: `
(namespace_declaration name: (_) @name body: (_) @body) @def.module
(class_declaration name: (_) @name body: (_)? @body) @def.class
(record_declaration name: (_) @name body: (_)? @body) @def.class
(struct_declaration name: (_) @name body: (_)? @body) @def.struct
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(delegate_declaration name: (_) @name) @def.type
(constructor_declaration name: (_) @name body: (block) @body) @def.constructor
(constructor_declaration name: (_) @name body: (arrow_expression_clause (_) @body.expression)) @def.constructor
(method_declaration name: (_) @name body: (block) @body) @def.method
(method_declaration name: (_) @name body: (arrow_expression_clause (_) @body.expression)) @def.method
(method_declaration name: (_) @name) @def.method
(local_function_statement name: (_) @name body: (block) @body) @def.function
(local_function_statement name: (_) @name body: (arrow_expression_clause (_) @body.expression)) @def.function
(property_declaration name: (_) @name) @def.property
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (_) @name))) @def.constant
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @def.field
(comment) @comment
(attribute_list) @decorator
(string_literal) @literal
(verbatim_string_literal) @literal
(raw_string_literal) @literal
(interpolated_string_expression) @literal
`,
  wrappers: ['global_statement'],
  body: 'braces',
  isExported: ({ signature }) => /\bpublic\b/.test(signature),
};
