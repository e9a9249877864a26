import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import type { Fleet } from './fleet.ts';
import type { FleetWorkspaces } from './fleet-workspaces.ts';
import { isRefusal, type PendingRemovals } from './pending-removals.ts';
import type { RunnerLink } from './runner-link.ts';

interface RemovalRetriesOptions {
  readonly fleet: Pick<Fleet, 'onOnline'>;
  readonly remote: Pick<FleetWorkspaces, 'remove'>;
  readonly pending: PendingRemovals;
  onFailure(thrown: unknown): void;
}

interface RunnerWithRemovals {
  readonly token: RunnerToken;
  readonly link: RunnerLink;
  /** Tries per workspace since the runner last connected. */
  readonly tries: Map<string, number>;
  isRetrying: boolean;
}

/** Tries per workspace and connection: a runner that cannot remove it now may be able to after it reconnects. */
const maxTries = 3;

/** Retries pending removals as soon as a runner connects, one workspace of each runner after the other. */
export function createRemovalRetries({ fleet, remote, pending, onFailure }: RemovalRetriesOptions) {
  const runners = new Map<RunnerLink, RunnerWithRemovals>();
  fleet.onOnline((token, link) => {
    const runner = runners.get(link) ?? addRunner(token, link);
    runner.tries.clear();
    void retryRunner(runner);
  });

  function addRunner(token: RunnerToken, link: RunnerLink): RunnerWithRemovals {
    const runner = { token, link, tries: new Map<string, number>(), isRetrying: false };
    runners.set(link, runner);
    void link.peer.lost.then(() => runners.delete(link));
    return runner;
  }

  async function retryRunner(runner: RunnerWithRemovals): Promise<void> {
    if (runner.isRetrying) return;
    runner.isRetrying = true;
    try {
      const { accountId, name } = runner.token;
      for (const { workspaceId: id } of await pending.list(accountId, name))
        await retryRemoval(runner, { accountId, id });
    } catch (thrown) {
      onFailure(thrown);
    } finally {
      runner.isRetrying = false;
    }
  }

  async function retryRemoval(
    { token, link, tries }: RunnerWithRemovals,
    gone: { accountId: string; id: string },
  ): Promise<void> {
    const tried = tries.get(gone.id) ?? 0;
    if (tried >= maxTries || link.state() !== 'online') return;
    tries.set(gone.id, tried + 1);
    try {
      await remote.remove(gone, token.name);
    } catch (thrown) {
      // Every other failure was reported when the record was removed.
      if (isRefusal(thrown)) await pending.reportLeft(gone, token.name, thrown);
      return;
    }
    await pending.reportRemoved(gone, token.name);
  }

  /**
   * Called periodically: a failed removal may succeed now, and another server may have left removals for this server's
   * runners.
   */
  return { retryAll: () => Promise.all([...runners.values()].map(retryRunner)) };
}
