import { LinkRefusal } from './link-refusal.ts';
import type { LinkEntry } from './link-table.ts';

/**
 * A live machine responds sooner than this. The limit keeps short how long a machine waits that restarts after a power
 * cut.
 */
const maxProbeMs = 5000;

const inUse =
  'another machine is connected with this token, and a token is for one machine: stop croft runner there, or make a ' +
  'token for this machine with croft runners create NAME';

interface RivalOptions {
  readonly heartbeatMs: number;
  onRival(): void;
}

/**
 * Throws a `LinkRefusal` if another machine is connected under the same key and responds. A machine that does not
 * respond counts as dead, and its link is lost. When the function returns, there is no rival at that moment.
 */
export async function refuseRival(
  findRival: () => LinkEntry | undefined,
  { heartbeatMs, onRival }: RivalOptions,
): Promise<void> {
  for (let rival = findRival(); rival; rival = findRival()) {
    if (await rival.link.respondsWithin(Math.min(heartbeatMs, maxProbeMs))) {
      onRival();
      throw new LinkRefusal('IN_USE', inUse);
    }
    if (rival.link.state === 'online') rival.link.lose('it did not answer when a runner with the same token connected');
  }
}
