import { AppError } from '@croft/protocol';
import { isLive } from '../../core/accounts/keys/key-rows.ts';
import type { Records } from '../../core/accounts/ports/records.ts';
import type { Registry } from '../../core/accounts/ports/registry.ts';
import { createTerminalAudit } from '../../core/terminals/terminal-audit.ts';
import { createTickets } from '../../core/terminals/terminal-tickets.ts';
import { createTerminals, type TerminalOwner } from '../../core/terminals/terminals.ts';
import type { ServerBounds } from '../server/server-bounds.ts';
import { openPersonSandbox, type PersonSandboxOptions } from './person-sandbox.ts';

interface AccountTerminalsOptions extends PersonSandboxOptions {
  readonly ticketKey: Buffer;
  readonly bounds: Pick<ServerBounds, 'account' | 'times'>;
  readonly records: Records;
  onWarning(message: string): void;
}

/**
 * Terminals for people, in the sandboxes of their accounts. A terminal is a shell without approvals: `permissionMode`
 * does not apply to it. Its audit rows say who had it, where, and for how long.
 */
export function createAccountTerminals(options: AccountTerminalsOptions) {
  const { registry, now } = options;
  const audit = createTerminalAudit(options);
  const terminals = createTerminals({
    graceMs: options.bounds.times.terminalGraceMs,
    perAccount: options.bounds.account.terminals,
    openSandbox: (owner) => openPersonSandbox(owner, options),
    async onOpen(owner, id) {
      // Opening a sandbox takes a while, and the key may have been revoked in the meantime.
      await mustLast(owner);
      await audit.opened(owner, id);
    },
    onClosed: audit.closed,
  });
  const mustLast = async (owner: TerminalOwner): Promise<void> => {
    if (!(await isOver(owner, registry, now()))) return;
    throw new AppError('E_UNAUTHORIZED', 'the key, the sandbox or the workspace of this ticket no longer exists', {
      hint: 'Ask for another ticket with a key that is valid.',
    });
  };
  return {
    ...terminals,
    tickets: createTickets(options.ticketKey, now),
    /** A ticket is valid only as long as the key that it was issued for. */
    async enter(...[owner, ...rest]: Parameters<typeof terminals.enter>) {
      await mustLast(owner);
      return terminals.enter(owner, ...rest);
    },
    /** Ends the terminals whose key, sandbox or workspace no longer exists. */
    async closeStale(accountId?: string): Promise<void> {
      const own = terminals.owners().filter((owner) => accountId === undefined || owner.accountId === accountId);
      const over = await Array.fromAsync(own, async (owner) => ((await isOver(owner, registry, now())) ? [owner] : []));
      const gone = new Set(over.flat());
      if (gone.size === 0) return;
      await terminals.endThose((owner) => gone.has(owner), 'its key, its sandbox or its workspace no longer exists');
    },
  };
}

async function isOver(owner: TerminalOwner, registry: Registry, now: number): Promise<boolean> {
  const { accountId, person, sandboxId, workspaceId } = owner;
  const records = [registry.sandboxes.open(accountId, sandboxId), registry.workspaces.open(accountId, workspaceId)];
  if ((await Promise.all<unknown>(records)).includes(undefined)) return true;
  if (!person.startsWith('key ')) return false;
  const keys = await registry.keys.listAll(accountId);
  return !keys.some((key) => `key ${key.keyId}` === person && isLive(key, new Date(now)));
}
