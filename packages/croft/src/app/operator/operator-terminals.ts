import { AppError } from '@croft/protocol';
import { notFound } from '../../core/accounts/access/registry-errors.ts';
import { createTerminalAudit } from '../../core/terminals/terminal-audit.ts';
import { createTerminals } from '../../core/terminals/terminals.ts';
import type { App } from '../app.ts';
import type { LocalApprovals } from '../records/local-approvals.ts';

interface OperatorTerminalsOptions {
  readonly workspaces: App['workspaces'];
  readonly records: LocalApprovals['records'];
  readonly graceMs: number;
  readonly perAccount: number;
  onWarning(message: string): void;
}

/** Terminals of the operator in the sandboxes of the workspaces that flags name. */
export function createOperatorTerminals({ workspaces, ...options }: OperatorTerminalsOptions) {
  const audit = createTerminalAudit({ ...options, now: Date.now });
  return createTerminals({
    graceMs: options.graceMs,
    perAccount: options.perAccount,
    async openSandbox({ workspaceId }) {
      const workspace = workspaces.list().find(({ name }) => name === workspaceId);
      if (!workspace) throw notFound('Workspace');
      if (workspace.access === 'read-only')
        throw new AppError('E_READ_ONLY', 'this server is read-only (--readonly), and a terminal can change files', {
          hint: 'Ask the operator to start croft without --readonly.',
        });
      return workspace.openSandbox();
    },
    onOpen: audit.opened,
    onClosed: audit.closed,
  });
}
