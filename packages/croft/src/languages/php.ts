import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const php: LanguageSyntax = {
  id: 'php',
  extensions: ['php', 'phtml'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-php.wasm' },
  query: `
(namespace_definition name: (_) @name body: (_) @body) @def.module
(class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(trait_declaration name: (_) @name body: (_) @body) @def.trait
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(method_declaration name: (_) @name body: (_) @body (#eq? @name "__construct")) @def.constructor
(method_declaration name: (_) @name body: (_)? @body) @def.method
(function_definition name: (_) @name body: (_) @body) @def.function
(property_declaration (property_element (variable_name (name) @name))) @def.property
(const_declaration (const_element (name) @name)) @def.constant
(comment) @comment
(attribute_list) @decorator
(string) @literal
(encapsed_string) @literal
(heredoc) @literal
(nowdoc) @literal
`,
  wrappers: [],
  body: 'braces',
  isExported: ({ signature }) => !/^(?:private|protected)\b/.test(signature),
};
