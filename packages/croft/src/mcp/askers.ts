import type { ServerContext } from '@modelcontextprotocol/server';
import type { Asker } from '../core/approvals/approvals.ts';
import { toDecision, toForm } from './approval-form.ts';

/** The approval's own time ends it sooner. */
const dayMs = 86_400_000;

/** In 2025, over the connection of the call. Whatever goes wrong there is no answer. */
export function askAtOnce({ mcpReq }: ServerContext, waiter: Asker): Asker {
  return {
    ...waiter,
    label: 'elicitation',
    async ask(approval, signal) {
      try {
        const options = { signal, timeout: dayMs, relatedRequestId: mcpReq.id };
        const { action, content } = await mcpReq.elicitInput(toForm(approval), options);
        return toDecision(action, content);
      } catch {
        signal.throwIfAborted();
        return undefined;
      }
    },
  };
}

/** Tells the client, if it wants to know, so that it does not take the call for lost. */
export function createWaiter({ mcpReq }: ServerContext, waitMs: number): Asker {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { label: 'nobody', waitMs };
  let progress = 0;
  return {
    label: 'nobody',
    waitMs,
    onWaiting({ approvalId }) {
      progress += 1;
      const message = `waits for a person to approve it: ${approvalId}`;
      const params = { progressToken, progress, message };
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}
