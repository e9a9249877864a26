import type { Escape, GroundOptions } from './escape.ts';

/** Attempted on a ground of its own, because it leaves something behind or needs one made another way. */
export function onOwnGround(one: Escape, options: GroundOptions = {}): Escape {
  return { ...one, attempt: async (ground) => one.attempt(await ground.open(options)) };
}
