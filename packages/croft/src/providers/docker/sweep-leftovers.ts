import { ownLabel } from './container-config.ts';
import type { EngineClient } from './engine-client.ts';

/** Longer than a server takes from making a container to starting it. */
const usuallyLeftAfterMs = 5 * 60_000;

/**
 * Removes containers whose server was killed between making and starting them. Containers that ran have ended, because
 * their init notices the end of the server, and the engine removes those.
 */
export async function sweepLeftovers(engine: EngineClient, leftAfterMs = usuallyLeftAfterMs): Promise<void> {
  const found = await engine.list({ label: [ownLabel], status: ['created', 'exited'] });
  const old = found.filter(({ Created }) => Date.now() - Created * 1000 > leftAfterMs);
  // A container that somebody else is removing makes `remove` fail, which is ignored.
  await Promise.allSettled(old.map(({ Id }) => engine.remove(Id)));
}
