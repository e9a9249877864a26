import { DecideApproval } from '@croft/protocol';
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ApprovalView } from '../core/accounts/registry.ts';
import type { Decision } from '../core/approvals/approvals.ts';
import { cutVisible } from '../core/approvals/visible-text.ts';

export type Asked = Pick<ApprovalView, 'approvalId' | 'tool' | 'workspace' | 'preview' | 'expiresAt'>;

/** What fits into a dialog. The whole of it is with the approval. */
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

/** The question as a client puts it to its person. */
export function toForm({ approvalId, tool, workspace, preview, expiresAt }: Asked): ElicitRequestFormParams {
  const question = `The agent wants to run ${tool} in ${workspace}. May it?`;
  const message = [question, '', quote(cutVisible(preview, maxPreviewChars)), '', `${approvalId}, until ${expiresAt}`];
  return { mode: 'form', message: message.join('\n'), requestedSchema };
}

/** Each line marked, so that none of what the agent wrote can pass for words of ours. */
function quote(text: string): string {
  return text.replace(/^/gm, '> ');
}

/** `undefined` when the person did not answer, or not in the words of the form. */
export function toDecision(action: 'accept' | 'decline' | 'cancel', content: unknown): Decision | undefined {
  if (action === 'decline') return { decision: 'deny' };
  const answer = DecideApproval.safeParse(content);
  if (action !== 'accept' || !answer.success) return undefined;
  const { decision, scope, reason } = answer.data;
  return { decision, scope, ...(reason && { reason }) };
}
