import type { SandboxConfig } from '../accounts/ports/registry.ts';
import type { ReservationKey } from '../accounts/ports/reservation-table.ts';
import { openReservedSandbox, type ReservationsOptions } from './open-reserved-sandbox.ts';
import { createReservationsByKey } from './reservations-by-key.ts';
import type { ReservedSandbox } from './reserved-sandbox.ts';

export type Reservations = ReturnType<typeof createReservations>;

type RemovedRecord = { readonly sandboxId: string } | { readonly workspaceId: string };

const checkMs = 1000;
const stopped = 'the server stopped';

/**
 * The persistent sandboxes of this server. All sessions with the same sandbox record and workspace share one. A
 * workspace is served by one server at a time, so that no other server has a sandbox for it.
 */
export function createReservations(options: ReservationsOptions) {
  const { records } = options;
  const { use, open, opened } = createReservationsByKey((request, onEnd) =>
    openReservedSandbox(request, options, onEnd),
  );
  const timer = setInterval(() => void checkAll(), checkMs).unref();

  return {
    /** Returns the sandbox for one session, and opens it if nobody has. */
    use,
    /** The name of the workspace in an open sandbox of this sandbox record and workspace. */
    findName: ({ sandboxId, workspaceId }: Pick<ReservationKey, 'sandboxId' | 'workspaceId'>) =>
      open().find(({ key }) => key.sandboxId === sandboxId && key.workspaceId === workspaceId)?.key.workspace,
    endThose,
    /**
     * Ends sandboxes whose records are gone. Those with changed settings end when nobody uses them. `find` returns the
     * current config.
     */
    async endStale(find: FindConfig, accountId?: string): Promise<void> {
      const own = (await opened()).filter(({ key }) => accountId === undefined || key.accountId === accountId);
      const gone = await Promise.all(
        own.map(async (reserved) => ((await endIfStale(reserved, find)) ? [reserved] : [])),
      );
      for (const { key } of gone.flat()) await removeRow(key);
    },
    /** Ends those of a record that is removed. */
    async forget(accountId: string, of: RemovedRecord): Promise<void> {
      await endThose((key) => key.accountId === accountId && isOf(key, of), 'its record was removed');
      await records.change(({ reservations }) => reservations.removeOf(accountId, of));
    },
    endLongestSuspended: (accountId: string) => endLongestSuspended(open(), accountId),
    /**
     * Ends all. Their rows stay: the next server that opens them resumes, and does not set up again. One that is being
     * opened, which may take long, ends when it is open; nobody waits for it.
     */
    async close(): Promise<void> {
      clearInterval(timer);
      void endThose(() => true, stopped).catch(() => {});
      await Promise.all(open().map(({ end }) => end(stopped)));
    },
  };

  async function endThose(isOver: (key: ReservationKey) => boolean, reason: string): Promise<void> {
    const over = (await opened()).filter(({ key }) => isOver(key));
    await Promise.all(over.map(({ end }) => end(reason)));
  }

  async function checkAll(): Promise<void> {
    const now = options.now();
    const checkOne = async ({ check, key }: ReservedSandbox) => ((await check(now)) ? removeRow(key) : undefined);
    const failed = (thrown: unknown) => options.onWarning(`a persistent sandbox could not be checked: ${thrown}`);
    await Promise.all(open().map((reserved) => checkOne(reserved).catch(failed)));
  }

  /** A row that stays is found to be expired when it is read. */
  async function removeRow(key: ReservationKey): Promise<void> {
    await records
      .change(({ reservations }) => reservations.remove(key))
      .catch((thrown) => options.onWarning(`the end of a persistent sandbox was not recorded: ${thrown}`));
  }
}

type FindConfig = (key: ReservationKey) => Promise<SandboxConfig | undefined>;

/**
 * Ends a sandbox whose records are gone and returns true. A sandbox whose settings changed ends when nobody uses it.
 */
async function endIfStale(reserved: ReservedSandbox, find: FindConfig): Promise<boolean> {
  const config = await find(reserved.key);
  if (!config?.persistent) {
    await reserved.end('its sandbox or its workspace was removed, or the sandbox is persistent no more');
    return true;
  }
  if (reserved.fits(config)) reserved.adopt(config);
  else reserved.retire();
  return false;
}

/** Makes place for another sandbox of the account. Returns whether there was one to end. */
async function endLongestSuspended(all: readonly ReservedSandbox[], accountId: string): Promise<boolean> {
  const suspended = all.filter(({ key, isSuspended }) => key.accountId === accountId && isSuspended());
  const [longest] = suspended.sort((one, other) => other.idleMs() - one.idleMs());
  await longest?.end('the account is at its limit, and needed the place for another sandbox');
  return longest !== undefined;
}

function isOf(key: ReservationKey, of: RemovedRecord): boolean {
  return 'sandboxId' in of ? key.sandboxId === of.sandboxId : key.workspaceId === of.workspaceId;
}
