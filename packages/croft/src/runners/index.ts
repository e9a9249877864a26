export { vitest } from './vitest.ts';
