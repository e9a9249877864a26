import { OpenTerminal, TerminalTicket } from '@croft/protocol';
import { parseRequestBody } from '../../core/accounts/configs/parse-request-body.ts';
import { defineRoute } from '../platform/route.ts';

export const terminalRoutes = [
  defineRoute({
    method: 'POST',
    path: '/sandboxes/{sandboxId}/terminals',
    summary:
      'A ticket for a terminal in such a sandbox, over a workspace; good once, for half a minute. ' +
      'A terminal is a shell that nobody is asked about: permissionMode does not apply to it',
    scopes: ['terminal'],
    ofFlags: true,
    body: OpenTerminal,
    status: 201,
    answer: TerminalTicket,
    failures: ['E_NOT_FOUND'],
    async handle({ terminals, registry }, { actor, params, body }) {
      const { workspaceId, rows, columns, terminal, from } = parseRequestBody(OpenTerminal, body);
      const { sandboxId } = params;
      // Fails now for an unknown id, and not later on the person's screen.
      await registry.sandboxes.get(actor, sandboxId);
      await registry.workspaces.get(actor, workspaceId);
      const owner = { accountId: actor.accountId, person: actor.label, sandboxId, workspaceId };
      const { ticket, expiresAt } = terminals.tickets.issue(owner, { size: { rows, columns }, terminal, from });
      const path = `/v1/sandboxes/${sandboxId}/terminal?ticket=${ticket}`;
      return { body: { ticket, path, expiresAt } };
    },
  }),
];
