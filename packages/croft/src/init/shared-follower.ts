import { createInitFinder } from './find-init.ts';
import { createFollower } from './follower.ts';

/** One follower for the whole program, because the kernel gives each user a limited number of inotify instances. */
export const sharedFollower = createFollower(createInitFinder());
