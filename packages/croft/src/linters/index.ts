export { eslint } from './eslint.ts';
