import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const go: LanguageSyntax = {
  id: 'go',
  extensions: ['go'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-go.wasm' },
  query: `
(function_declaration name: (_) @name body: (_)? @body (#match? @name "^(Test|Benchmark|Fuzz|Example)([^a-z]|$)")) @def.test
(function_declaration name: (_) @name body: (_)? @body) @def.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @receiver
    (pointer_type [(type_identifier) @receiver (generic_type type: (type_identifier) @receiver)])
    (generic_type type: (type_identifier) @receiver)]))
  name: (_) @name body: (_)? @body) @def.method
(type_declaration (type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @def.struct)
(type_declaration (type_spec name: (_) @name type: (interface_type)) @def.interface)
(type_declaration (type_spec name: (_) @name) @def.type)
(type_declaration (type_alias name: (_) @name) @def.type)
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (field_identifier) @name) @def.field)))
(type_spec type: (interface_type (method_elem name: (_) @name) @def.method))
(const_spec name: (identifier) @name) @def.constant
(var_spec name: (identifier) @name value: (expression_list (func_literal body: (_) @body))) @def.function
(var_spec name: (identifier) @name) @def.variable
(comment) @comment
(raw_string_literal) @literal
(interpreted_string_literal) @literal
`,
  wrappers: ['type_declaration', 'const_declaration', 'var_declaration', 'var_spec_list'],
  body: 'braces',
  isExported: ({ name }) => /^\p{Lu}/u.test(name),
};
