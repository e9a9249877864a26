export { go } from './go.ts';
export { python } from './python.ts';
export { typescript } from './typescript.ts';
