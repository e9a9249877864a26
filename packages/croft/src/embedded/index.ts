export { createCroft, type EmbeddedOptions } from './create-croft.ts';
