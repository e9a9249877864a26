import { createInitFinder } from './binary.ts';
import { createSpawner } from './spawner.ts';

/** One for the program, whatever starts others by it. */
export const sharedSpawner = createSpawner(createInitFinder());
