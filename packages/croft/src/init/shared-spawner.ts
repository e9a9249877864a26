import { findInit } from './find-init.ts';
import { createSpawner } from './spawner.ts';

/** One spawner for the whole program. */
export const sharedSpawner = createSpawner(findInit);
