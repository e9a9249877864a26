import { DecideApproval } from '@croft/protocol';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ApprovalView } from '../core/accounts/ports/registry.ts';
import type { Decision } from '../core/approvals/approvals.ts';
import { cutVisible } from '../core/approvals/visible-text.ts';

export type ApprovalQuestion = Pick<ApprovalView, 'approvalId' | 'tool' | 'workspace' | 'preview' | 'expiresAt'>;

/** The most of a preview that fits into a dialog. The approval has the whole preview. */
const maxPreviewChars = 8000;

const requestedSchema: ElicitRequestFormParams['requestedSchema'] = {
  type: 'object',
  properties: {
    decision: { type: 'string', title: 'Decision', enum: ['approve', 'deny'] },
    scope: {
      type: 'string',
      title: 'For how long',
      description: 'once: this call. session: every call of this session that is exactly the same.',
      enum: ['once', 'session'],
      default: 'once',
    },
    reason: { type: 'string', title: 'Reason', description: 'Told to the agent.', maxLength: 2000 },
  },
  required: ['decision'],
};

/** The form with which a client asks its person. */
export function toApprovalForm({
  approvalId,
  tool,
  workspace,
  preview,
  expiresAt,
}: ApprovalQuestion): ElicitRequestFormParams {
  const question = `The agent wants to run ${tool} in ${workspace}. May it?`;
  const message = [question, '', quote(cutVisible(preview, maxPreviewChars)), '', `${approvalId}, until ${expiresAt}`];
  return { mode: 'form', message: message.join('\n'), requestedSchema };
}

/** Marks each line, so that nothing the agent wrote can pass for Croft's own words. */
function quote(text: string): string {
  return text.replace(/^/gm, '> ');
}

/** Returns `undefined` if the person did not answer, or if the answer does not match the form. */
export function toDecision(action: 'accept' | 'decline' | 'cancel', content: unknown): Decision | undefined {
  if (action === 'decline') return { decision: 'deny' };
  const answer = DecideApproval.safeParse(content);
  if (action !== 'accept' || !answer.success) return undefined;
  const { decision, scope, reason } = answer.data;
  return { decision, scope, ...(reason && { reason }) };
}
