/** Patterns of git are read by whoever lists files, so that they are in `core`. */
export * from '../core/content/wildmatch.ts';
