/**
 * One grammar a line. A grammar is data: file endings, a WebAssembly file, and a query
 * (`core/code/language-syntax.ts`).
 */
export { bash } from './bash.ts';
export { c } from './c/c.ts';
export { cpp } from './c/cpp.ts';
export { cSharp } from './c-sharp.ts';
export { go } from './go.ts';
export { java } from './java.ts';
export { javascript } from './javascript/javascript.ts';
export { tsx, typescript } from './javascript/typescript.ts';
export { php } from './php.ts';
export { python } from './python.ts';
export { ruby } from './ruby.ts';
export { rust } from './rust.ts';
export { swift } from './swift.ts';
