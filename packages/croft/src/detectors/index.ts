export { node } from './node.ts';
