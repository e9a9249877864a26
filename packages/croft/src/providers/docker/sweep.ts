import { ownLabel } from './container.ts';
import type { Engine } from './engine.ts';

/** Longer than a server takes from making a container to starting it. */
const usuallyLeftAfterMs = 5 * 60_000;

/**
 * Takes away containers that a server made and was killed before it could start them. Those that ran have ended with
 * their server, whose end their init sees, and an engine removes them itself.
 */
export async function sweepLeftovers(engine: Engine, leftAfterMs = usuallyLeftAfterMs): Promise<void> {
  const found = await engine.list({ label: [ownLabel], status: ['created', 'exited'] });
  const old = found.filter(({ Created }) => Date.now() - Created * 1000 > leftAfterMs);
  // One that somebody else is removing is not ours to wait for.
  await Promise.allSettled(old.map(({ Id }) => engine.remove(Id)));
}
