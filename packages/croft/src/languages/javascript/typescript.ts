import type { LanguageSyntax } from '../../core/code/language-syntax.ts';
import { isExportedName, sharedQuery, sharedWrappers } from './shared-query.ts';

const query = `${sharedQuery}
(abstract_class_declaration name: (_) @name body: (_) @body) @def.class
(interface_declaration name: (_) @name body: (_) @body) @def.interface
(enum_declaration name: (_) @name body: (_) @body) @def.enum
(type_alias_declaration name: (_) @name) @def.type
(internal_module name: (_) @name body: (_) @body) @def.module
(module name: (identifier) @name body: (_) @body) @def.module
(module name: (string (string_fragment) @name) body: (_) @body) @def.module
(function_signature name: (_) @name) @def.function
(method_signature name: (_) @name) @def.method
(abstract_method_signature name: (_) @name) @def.method
(property_signature name: (_) @name) @def.property
(public_field_definition name: (_) @name value: [
  (arrow_function body: (statement_block) @body)
  (function_expression body: (_) @body)]) @def.method
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body.expression)) @def.method
(public_field_definition name: (_) @name) @def.field
`;

const common = {
  query,
  wrappers: [...sharedWrappers, 'ambient_declaration'],
  body: 'braces',
  isExported: isExportedName,
} as const;

export const typescript: LanguageSyntax = {
  id: 'typescript',
  extensions: ['ts', 'mts', 'cts'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-typescript.wasm' },
  ...common,
};

export const tsx: LanguageSyntax = {
  id: 'tsx',
  extensions: ['tsx'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-tsx.wasm' },
  ...common,
};
