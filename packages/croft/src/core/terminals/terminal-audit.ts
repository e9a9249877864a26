import { appendAudit } from '../accounts/audit/audit-log.ts';
import type { Records } from '../accounts/ports/records.ts';
import type { TerminalEnd } from './terminal.ts';
import type { TerminalOwner } from './terminals.ts';

interface TerminalAuditOptions {
  readonly records: Records;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  onWarning(message: string): void;
}

/**
 * Writes two audit rows per terminal: opened and closed. A terminal without the second row was open when the server
 * died.
 */
export function createTerminalAudit({ records, now, onWarning }: TerminalAuditOptions) {
  const write = ({ accountId, person, sandboxId, workspaceId }: TerminalOwner, action: string, details: object) =>
    records.change((tables) =>
      appendAudit(tables, {
        ...{ accountId, at: new Date(now()), actor: person, action, target: sandboxId },
        details: { workspaceId, ...details },
      }),
    );

  return {
    opened: (owner: TerminalOwner, terminal: string) => write(owner, 'terminal.opened', { terminal }),
    async closed(owner: TerminalOwner, terminal: string, end: TerminalEnd): Promise<void> {
      await write(owner, 'terminal.closed', { terminal, ...end }).catch((thrown) =>
        onWarning(`no audit row tells that terminal ${terminal} closed (${end.reason}): ${thrown}`),
      );
    },
  };
}
