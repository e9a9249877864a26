import type { Approval } from '@croft/protocol';
import { segment, send } from './request.ts';

/** A call ran, or a person has to agree first. */
type CallEnd =
  | { readonly type: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly type: 'approval'; readonly approval: Approval };

interface CallOptions {
  readonly agentId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly approvalId?: string | undefined;
}

/** Calls a tool as the agent would. */
export async function callTool({ agentId, tool, input, approvalId }: CallOptions): Promise<CallEnd> {
  const response = await send('POST', `/v1/agents/${segment(agentId)}/tools/${segment(tool)}`, {
    body: input,
    headers: approvalId === undefined ? {} : { 'croft-approval': approvalId },
  });
  const answer = await response.json();
  return response.status === 202 ? { type: 'approval', approval: answer.approval } : { type: 'result', result: answer };
}
