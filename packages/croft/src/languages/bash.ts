import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const bash: LanguageSyntax = {
  id: 'bash',
  extensions: ['sh', 'bash'],
  fileNames: ['.bashrc', '.bash_profile', '.profile'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-bash.wasm' },
  query: `
(function_definition name: (_) @name body: (compound_statement) @body) @def.function
(function_definition name: (_) @name) @def.function
(program (declaration_command (variable_assignment name: (_) @name)) @def.constant)
(program (variable_assignment name: (_) @name) @def.variable)
(comment) @comment
(string) @literal
(raw_string) @literal
(heredoc_body) @literal
`,
  wrappers: [],
  body: 'shell-braces',
  isExported: () => true,
};
