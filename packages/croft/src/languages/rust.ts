import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const rust: LanguageSyntax = {
  id: 'rust',
  extensions: ['rs'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-rust.wasm' },
  query: `
(impl_item type: (_) @scope.name) @scope
(mod_item name: (_) @name body: (_)? @body) @def.module
(struct_item name: (_) @name body: (field_declaration_list)? @body) @def.struct
(union_item name: (_) @name body: (_) @body) @def.struct
(enum_item name: (_) @name body: (_) @body) @def.enum
(trait_item name: (_) @name body: (_) @body) @def.trait
(impl_item body: (declaration_list (function_item name: (_) @name body: (_) @body) @def.method))
(trait_item body: (declaration_list (function_item name: (_) @name body: (_) @body) @def.method))
(trait_item body: (declaration_list (function_signature_item name: (_) @name) @def.method))
(function_item name: (_) @name body: (_) @body) @def.function
(function_signature_item name: (_) @name) @def.function
(type_item name: (_) @name) @def.type
(const_item name: (_) @name) @def.constant
(static_item name: (_) @name) @def.constant
(field_declaration name: (_) @name) @def.field
(macro_definition name: (_) @name) @def.macro
(line_comment) @comment
(block_comment) @comment
(attribute_item) @decorator
(string_literal) @literal
(raw_string_literal) @literal
`,
  wrappers: [],
  body: 'braces',
  isExported: ({ signature }) => /^pub\b/.test(signature),
};
