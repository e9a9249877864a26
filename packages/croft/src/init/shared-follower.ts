import { createInitFinder } from './binary.ts';
import { createFollower } from './follower.ts';

/** One for the program, whoever follows files by it: the kernel gives a user only so many. */
export const sharedFollower = createFollower(createInitFinder());
