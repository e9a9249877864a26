import { AppError } from '@croft/protocol';
import type { ReservationKey } from '../accounts/ports/reservation-table.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import type { ReservationRequest } from './open-reserved-sandbox.ts';
import type { ReservedSandbox } from './reserved-sandbox.ts';

/** Another session may end or replace a sandbox while one waits for it. */
const maxAttempts = 5;

type Open = (request: ReservationRequest, onEnd: () => void) => Promise<ReservedSandbox>;

/** The persistent sandboxes of a server, at most one for each key that takes sessions. */
export function createReservationsByKey(openReserved: Open) {
  const held = new Map<string, Promise<ReservedSandbox>>();
  const open = new Map<string, ReservedSandbox>();

  function begin(name: string, request: ReservationRequest): Promise<ReservedSandbox> {
    const forget = () => {
      if (held.get(name) !== opening) return;
      held.delete(name);
      open.delete(name);
    };
    const opening = openReserved(request, forget);
    held.set(name, opening);
    opening.then((reserved) => held.get(name) === opening && open.set(name, reserved), forget);
    return opening;
  }

  return {
    /**
     * Returns the sandbox for one session, and opens it if it is not open. Sessions that ask while it opens wait for
     * it.
     */
    async use(request: ReservationRequest): Promise<Sandbox> {
      const name = toName(request.key);
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const known = held.get(name) ?? begin(name, request);
        const reserved = await known;
        if (held.get(name) !== known) continue;
        if (reserved.fits(request.config)) {
          reserved.adopt(request.config);
          return reserved.share();
        }
        reserved.retire();
      }
      throw new AppError('E_SANDBOX_UNAVAILABLE', 'the persistent sandbox ended each time it was opened', {
        hint: 'Nothing ran. Ask the owner of the sandbox record to check its limits and its onCreate.',
      });
    },
    /** Those that are open now. A sandbox that is being opened may itself wait for another to end. */
    open: () => [...open.values()],
    /** Those that are open, once those that are being opened now are open. */
    async opened(): Promise<ReservedSandbox[]> {
      const results = await Promise.allSettled(held.values());
      return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    },
  };
}

function toName({ accountId, sandboxId, workspaceId, workspace }: ReservationKey): string {
  return JSON.stringify([accountId, sandboxId, workspaceId, workspace]);
}
