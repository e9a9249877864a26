import type { LanguageSyntax } from '../core/code/language-syntax.ts';

export const ruby: LanguageSyntax = {
  id: 'ruby',
  extensions: ['rb', 'rake', 'gemspec'],
  fileNames: ['Rakefile', 'Gemfile'],
  grammar: { package: '@vscode/tree-sitter-wasm', file: 'wasm/tree-sitter-ruby.wasm' },
  query: `
(module name: (_) @name) @def.module
(class name: (_) @name superclass: (_)? @params) @def.class
(class (body_statement (method name: (_) @name parameters: (_)? @params) @def.constructor) (#eq? @name "initialize"))
(method name: (_) @name parameters: (_)? @params !body) @def.method
(method name: (_) @name parameters: (_)? @params body: (body_statement)) @def.method
(method name: (_) @name parameters: (_)? @params body: (_) @body.expression) @def.method
(singleton_method name: (_) @name parameters: (_)? @params !body) @def.method
(singleton_method name: (_) @name parameters: (_)? @params body: (body_statement)) @def.method
(assignment left: (constant) @name) @def.constant
(comment) @comment
(string) @literal
(heredoc_body) @heredoc
`,
  wrappers: [],
  body: 'end',
  isExported: () => true,
};
