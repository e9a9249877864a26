import type { ServerRow } from '../../core/accounts/ports/cluster-tables.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import { newRandomName } from '../../lib/ids.ts';
import { createKnownServers, deadMs, protocol } from './known-servers.ts';

const beatMs = 2000;
/** Without a stored beat for this long, a server answers no call and freezes its sandboxes: well before `deadMs`. */
const cutOffMs = 10_000;
/** A longer pause between two beats makes the steady time begin again. */
const longestPauseMs = 6000;
const watchMs = 250;

interface MembershipOptions {
  readonly records: Records;
  readonly now: () => Date;
  /** The id of this server's data directory. */
  readonly directory: string;
  onWarning(message: string): void;
}

/** Called when the connection of this server to the database holds or is lost. */
interface MembershipHooks {
  /** After each stored beat. `wasCutOff`: other servers may have taken over what this one had. */
  onBeat(wasCutOff: boolean): Promise<void>;
  onCutOff(): void;
}

export type Membership = ReturnType<typeof createMembership>;

/**
 * Makes this server one of those that share a database: it stores a beat every two seconds, and reads the beats of the
 * others.
 */
export function createMembership({ records, now, directory, onWarning }: MembershipOptions) {
  const id = newRandomName('server');
  const servers = createKnownServers({ records, now, id });
  const started = Promise.withResolvers<void>();
  const pulse = createPulse();
  let own: ServerRow | undefined;
  let timers: NodeJS.Timeout[] = [];
  let beating: Promise<void> | undefined;

  async function beat({ onBeat }: MembershipHooks): Promise<void> {
    if (!own) return;
    const at = performance.now();
    await storeBeat(records, now, own);
    await servers.refresh();
    // Calls are accepted again only after this server has learned what others have taken over.
    await onBeat(pulse.pauseAt(at) > cutOffMs);
    if (pulse.note(at)) onWarning('the database answers again, and so do the calls of accounts');
    if (pulse.isSteady()) await servers.forgetDead();
  }

  function watch({ onCutOff }: MembershipHooks): void {
    if (!pulse.justStopped()) return;
    onWarning(`the database has not answered for ${cutOffMs / 1000} s: no call of an account is answered`);
    onCutOff();
  }

  return {
    ...{ id, ...servers, isCutOff: pulse.isStopped },
    /** Resolves when other servers can see this one. */
    started: started.promise,
    /**
     * While the database did not answer, no server stored beats. So a server takes over leases only after it has stored
     * beats steadily itself.
     */
    mayTakeOver: pulse.isSteady,

    async start(address: Pick<ServerRow, 'address' | 'host'>, hooks: MembershipHooks): Promise<void> {
      own = { id, ...address, directory, protocol, epoch: now().getTime(), beatAt: '' };
      await beat(hooks);
      started.resolve();
      const beatOnce = () => {
        const forget = () => {
          beating = undefined;
        };
        // The next beat comes in a moment.
        beating ??= beat(hooks).then(forget, forget);
      };
      timers = [setInterval(beatOnce, beatMs), setInterval(() => watch(hooks), watchMs)];
      for (const timer of timers) timer.unref();
    },
    /**
     * Removes this server and its leases from the records, so that other servers need not wait until it counts as dead.
     */
    async stop(): Promise<void> {
      timers.forEach(clearInterval);
      if (!own) return;
      own = undefined;
      await beating;
      await records.change((tables) => tables.servers.remove(id)).catch(() => {});
    },
  };
}

/** When beats were stored, by the monotonic clock of this machine. */
function createPulse() {
  let [beatenAt, steadySince] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let isStopReported = false;
  // Before its first beat a server has nothing that others could take.
  const isStopped = () => beatenAt !== Number.NEGATIVE_INFINITY && performance.now() - beatenAt > cutOffMs;
  return {
    isStopped,
    pauseAt: (at: number) => at - beatenAt,
    isSteady: () => performance.now() - steadySince > deadMs,
    /** True once for each time that the beats stop. */
    justStopped(): boolean {
      if (isStopReported || !isStopped()) return false;
      isStopReported = true;
      return true;
    },
    /** Returns whether the beats had stopped. */
    note(at: number): boolean {
      if (at - beatenAt > longestPauseMs) steadySince = at;
      beatenAt = at;
      const had = isStopReported;
      isStopReported = false;
      return had;
    },
  };
}

async function storeBeat(records: Records, now: () => Date, row: ServerRow): Promise<void> {
  await records.clock?.measure();
  const beatAt = now().toISOString();
  await records.change(async ({ servers }) => {
    // The others may have forgotten this server.
    if (!(await servers.beat(row.id, beatAt))) await servers.put({ ...row, beatAt });
  });
}
