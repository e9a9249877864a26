import type { Approval } from '@croft/protocol';
import { readCallEvents } from './read-call-events.ts';
import { RequestError, segment, send } from './request.ts';

/** A call ran, or a person has to agree first. */
type CallEnd =
  | { readonly type: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly type: 'approval'; readonly approval: Approval };

interface CallOptions {
  readonly agentId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly approvalId?: string | undefined;
  /** Receives what the command of the call has printed so far. */
  readonly onOutput?: ((output: string) => void) | undefined;
}

/** Calls a tool as the agent would. */
export async function callTool({ agentId, tool, input, approvalId, onOutput }: CallOptions): Promise<CallEnd> {
  const response = await send('POST', `/v1/agents/${segment(agentId)}/tools/${segment(tool)}`, {
    body: input,
    headers: {
      ...(approvalId !== undefined && { 'croft-approval': approvalId }),
      ...(onOutput && { accept: 'text/event-stream' }),
    },
  });
  if (onOutput && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return { type: 'result', result: await followCall(response, onOutput) };
  const answer = await response.json();
  return response.status === 202 ? { type: 'approval', approval: answer.approval } : { type: 'result', result: answer };
}

/** The start of a long output: the result has its first and its last part. */
const mostShown = 200_000;

async function followCall(response: Response, onOutput: (output: string) => void): Promise<Record<string, unknown>> {
  let output = '';
  for await (const event of readCallEvents(response.body)) {
    if (event.type === 'result') return event.result;
    if (event.type === 'error') throw new RequestError(event.error);
    if (event.type !== 'output' || output.length > mostShown) continue;
    output += event.text;
    onOutput(output);
  }
  throw new RequestError({
    ...{ code: 'E_CONNECTION_LOST', message: 'the connection broke during the call', details: {} },
    hint: 'See in the feed whether it ran before you repeat it.',
  });
}
