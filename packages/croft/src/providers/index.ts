export { createBubblewrap } from './bubblewrap.ts';
