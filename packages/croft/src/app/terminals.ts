import { AppError } from '@croft/protocol';
import { isLive } from '../core/accounts/key-rows.ts';
import type { Registry } from '../core/accounts/registry.ts';
import { createTerminals, type TerminalOwner } from '../core/terminals/terminals.ts';
import { createTickets } from '../core/terminals/tickets.ts';
import { openForPerson, type PersonMeans } from './person-sandbox.ts';

export interface TerminalDeskOptions extends PersonMeans {
  readonly ticketKey: Buffer;
}

/** Long enough to change a network, or to open the lid of a laptop again. */
const graceMs = 5 * 60_000;

/** Terminals for people, in the sandboxes of their accounts. */
export function createTerminalDesk(means: TerminalDeskOptions) {
  const { registry, now } = means;
  const terminals = createTerminals({ graceMs, openSandbox: (owner) => openForPerson(owner, means) });
  return {
    ...terminals,
    tickets: createTickets(means.ticketKey, now),
    /** A ticket is worth no more than the key that it was asked for with. */
    async enter(...[owner, ...rest]: Parameters<typeof terminals.enter>) {
      if (!(await isOver(owner, registry, now()))) return terminals.enter(owner, ...rest);
      throw new AppError('E_UNAUTHORIZED', 'the key, the sandbox or the workspace of this ticket is no more');
    },
    /** Ends those whose person, sandbox or workspace is no more. */
    async closeStale(accountId?: string): Promise<void> {
      const own = terminals.owners().filter((owner) => accountId === undefined || owner.accountId === accountId);
      const over = await Array.fromAsync(own, async (owner) => ((await isOver(owner, registry, now())) ? [owner] : []));
      const gone = new Set(over.flat());
      if (gone.size > 0) await terminals.endThose((owner) => gone.has(owner));
    },
  };
}

async function isOver(owner: TerminalOwner, registry: Registry, now: number): Promise<boolean> {
  const { accountId, person, sandboxId, workspaceId } = owner;
  const records = [registry.sandboxes.open(accountId, sandboxId), registry.workspaces.open(accountId, workspaceId)];
  if ((await Promise.all<unknown>(records)).includes(undefined)) return true;
  if (!person.startsWith('key ')) return false;
  const keys = await registry.keys.every(accountId);
  return !keys.some((key) => `key ${key.keyId}` === person && isLive(key, new Date(now)));
}
