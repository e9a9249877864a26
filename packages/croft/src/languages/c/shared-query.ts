/** Definitions that C and C++ write alike. */
export const sharedQuery = `
(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (compound_statement) @body) @def.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (compound_statement) @body) @def.function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) body: (compound_statement) @body) @def.function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @def.function
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @def.function
(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(type_definition declarator: (type_identifier) @name) @def.type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @def.type
(field_declaration declarator: (field_identifier) @name) @def.field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @def.field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @def.field
(preproc_def name: (_) @name) @def.macro
(preproc_function_def name: (_) @name) @def.macro
(declaration (type_qualifier "const") declarator: (init_declarator declarator: (identifier) @name)) @def.constant
(declaration declarator: (init_declarator declarator: (identifier) @name)) @def.variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @def.variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @def.variable
(declaration declarator: (identifier) @name) @def.variable
(comment) @comment
(string_literal) @literal
`;

/** A function that is not `static` is seen by other files. */
export function isVisible({ signature }: { readonly signature: string }): boolean {
  return !/^static\b/.test(signature);
}
