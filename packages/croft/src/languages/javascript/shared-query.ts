/** Definitions that JavaScript and TypeScript write alike. */
export const sharedQuery = `
(export_statement "default" @name value: (function_expression !name body: (_) @body)) @def.function
(export_statement "default" @name value: (class !name body: (_) @body)) @def.class
(export_statement "default" @name value: (arrow_function body: (statement_block) @body)) @def.function
(export_statement "default" @name value: (arrow_function body: (_) @body.expression)) @def.function

(function_declaration name: (_) @name body: (_) @body) @def.function
(generator_function_declaration name: (_) @name body: (_) @body) @def.function
(class_declaration name: (_) @name body: (_) @body) @def.class
(method_definition name: (property_identifier) @name body: (_) @body (#eq? @name "constructor")) @def.constructor
(method_definition name: (_) @name body: (_) @body) @def.method

(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (statement_block) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @def.function
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body.expression)) @def.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @def.class
(lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @def.constant)
(variable_declarator name: (identifier) @name) @def.variable

(pair key: [(property_identifier) (string (string_fragment))] @name value: [
  (arrow_function body: (statement_block) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)]) @def.method
(pair key: (property_identifier) @name value: (arrow_function body: (_) @body.expression)) @def.method

(assignment_expression
  left: (member_expression object: [
    (member_expression object: (identifier) @receiver property: (property_identifier) @_proto)
    (identifier) @receiver]
    property: (property_identifier) @name)
  right: [(function_expression body: (_) @body) (arrow_function body: (statement_block) @body)]) @def.method

(call_expression
  function: [(identifier) @_call (member_expression object: (identifier) @_call)]
  arguments: (arguments . (string (string_fragment) @name) [
    (arrow_function body: (statement_block) @body)
    (function_expression body: (_) @body)] .)
  (#any-of? @_call "test" "it" "describe" "suite" "bench")) @def.test

(comment) @comment
(decorator) @decorator
(string) @literal
(template_string) @literal
`;

/** `_declaration` nodes around a name, and `export`. */
export const sharedWrappers = [
  'export_statement',
  'lexical_declaration',
  'variable_declaration',
  'expression_statement',
];

/** Members count as exported unless they are private. */
export function isExportedName({
  name,
  signature,
  containers,
}: {
  readonly name: string;
  readonly signature: string;
  readonly containers: readonly string[];
}): boolean {
  if (containers.length > 0) return !name.startsWith('#') && !/^(?:private|protected)\b/.test(signature);
  return /^export\b/.test(signature);
}
