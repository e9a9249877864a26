import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const swift: LanguageSyntax = {
  id: 'swift',
  extensions: ['swift'],
  grammar: { package: '@repomix/tree-sitter-wasms', file: 'out/tree-sitter-swift.wasm' },
  query: `
(class_declaration "extension" name: (_) @scope.name) @scope
(class_declaration "struct" name: (_) @name body: (_) @body) @def.struct
(class_declaration "enum" name: (_) @name body: (_) @body) @def.enum
(class_declaration ["class" "actor"] name: (_) @name body: (_) @body) @def.class
(protocol_declaration name: (_) @name body: (_) @body) @def.interface
(class_body (function_declaration name: (simple_identifier) @name body: (_) @body) @def.method)
(enum_class_body (function_declaration name: (simple_identifier) @name body: (_) @body) @def.method)
(function_declaration name: (simple_identifier) @name body: (_) @body) @def.function
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(init_declaration "init" @name body: (_)? @body) @def.constructor
(class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @def.property)
(enum_class_body (property_declaration name: (pattern bound_identifier: (_) @name)) @def.property)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @def.property
(property_declaration name: (pattern bound_identifier: (_) @name)) @def.constant
(typealias_declaration name: (_) @name) @def.type
(comment) @comment
(multiline_comment) @comment
(attribute) @decorator
(line_string_literal) @literal
(multi_line_string_literal) @literal
`,
  wrappers: [],
  body: 'braces',
  isExported: ({ signature }) => /^(?:public|open)\b/.test(signature),
};
