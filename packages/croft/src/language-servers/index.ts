/**
 * One language server a line. A server is data: languages, program, settings
 * (`core/code/ports/language-server-definition.ts`).
 */
export { bash } from './bash.ts';
export { clangd } from './c.ts';
export { csharp } from './csharp.ts';
export { css } from './css.ts';
export { elixir } from './elixir.ts';
export { gopls } from './go.ts';
export { html } from './html.ts';
export { java } from './java.ts';
export { json } from './json.ts';
export { kotlin } from './kotlin.ts';
export { lua } from './lua.ts';
export { php } from './php.ts';
export { python } from './python.ts';
export { ruby } from './ruby.ts';
export { rustAnalyzer } from './rust.ts';
export { swift } from './swift.ts';
export { typescript } from './typescript.ts';
export { yaml } from './yaml.ts';
export { zig } from './zig.ts';
