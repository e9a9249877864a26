export { createBubblewrap } from './bubblewrap/provider.ts';
export { createSearchBoxes } from './search-box.ts';
