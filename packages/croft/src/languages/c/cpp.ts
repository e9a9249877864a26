import type { LanguageSyntax } from '../../core/code/language-syntax.ts';
import { isVisible, sharedQuery } from './shared-query.ts';

/** Headers of C are read as C++, which has nearly all of C in it. */
export const cpp: LanguageSyntax = {
  id: 'cpp',
  extensions: ['cpp', 'cc', 'cxx', 'c++', 'h', 'hh', 'hpp', 'hxx', 'ipp', 'inl'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-cpp.wasm' },
  query: `
(field_declaration_list (function_definition declarator: (function_declarator declarator: (identifier) @name) body: (compound_statement) @body) @def.constructor)
${sharedQuery}
(namespace_definition name: (_) @name body: (_) @body) @def.module
(class_specifier name: (type_identifier) @name body: (_) @body) @def.class
(function_definition declarator: (function_declarator declarator: (field_identifier) @name) body: (compound_statement) @body) @def.method
(function_definition declarator: (function_declarator declarator: (field_identifier) @name)) @def.method
(function_definition declarator: (function_declarator declarator: [(destructor_name) (operator_name)] @name) body: (compound_statement) @body) @def.method
(function_definition declarator: [(reference_declarator (function_declarator declarator: (_) @name)) (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))] body: (compound_statement) @body) @def.method
(function_definition
  declarator: (function_declarator declarator: (qualified_identifier scope: (_) @receiver name: (_) @name))
  body: (compound_statement) @body) @def.method
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @def.method
(alias_declaration name: (_) @name) @def.type
(concept_definition name: (_) @name) @def.type
(raw_string_literal) @literal
(attribute_declaration) @decorator
`,
  wrappers: ['template_declaration'],
  body: 'braces',
  isExported: isVisible,
};
