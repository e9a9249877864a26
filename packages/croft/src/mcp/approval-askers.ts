import type { ServerContext } from '@modelcontextprotocol/server';
import type { Asker } from '../core/approvals/approvals.ts';
import { toApprovalForm, toDecision } from './approval-form.ts';
import type { Progress } from './progress-notifications.ts';

/** An upper limit only: the approval itself expires sooner. */
const dayMs = 86_400_000;

/** For clients of protocol 2025: asks over the connection of the call. Any failure counts as no answer. */
export function askAtOnce({ mcpReq }: ServerContext, waiter: Asker): Asker {
  return {
    ...waiter,
    label: 'elicitation',
    async ask(approval, signal) {
      try {
        const options = { signal, timeout: dayMs, relatedRequestId: mcpReq.id };
        const { action, content } = await mcpReq.elicitInput(toApprovalForm(approval), options);
        return toDecision(action, content);
      } catch {
        signal.throwIfAborted();
        return undefined;
      }
    },
  };
}

/**
 * Makes an asker that asks nobody: the call waits for the approval inbox. Sends progress, so that the client does not
 * give up.
 */
export function createWaiter(progress: Progress, waitMs: number): Asker {
  const { say } = progress;
  if (!say) return { label: 'nobody', waitMs };
  return {
    label: 'nobody',
    waitMs,
    onWaiting: ({ approvalId }) => say(`waits for a person to approve it: ${approvalId}`),
  };
}
