/** The rules of `.gitignore` are read by whoever lists files, so that they are in `core`. */
export * from '../core/content/gitignore.ts';
