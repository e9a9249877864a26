import type { StreamedCall } from '@croft/protocol';
import { RequestError, segment, send } from './request.ts';

type CallEnd = Extract<StreamedCall, { type: 'result' | 'approval' }>;

interface CallOptions {
  readonly agentId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly approvalId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  onOutput?(event: Extract<StreamedCall, { type: 'output' }>): void;
}

/** Calls a tool as the agent would, with its output while it runs. Aborting the signal ends the call. */
export async function callTool({ agentId, tool, input, approvalId, signal, onOutput }: CallOptions): Promise<CallEnd> {
  const response = await send('POST', `/v1/agents/${segment(agentId)}/tools/${segment(tool)}`, {
    body: input,
    headers: { accept: 'text/event-stream', ...(approvalId !== undefined && { 'croft-approval': approvalId }) },
    signal,
  });
  if (response.headers.get('content-type')?.startsWith('application/json')) return readJson(response);
  for await (const event of readEvents(response)) {
    if (event.type === 'output') onOutput?.(event);
    if (event.type === 'error') throw new RequestError(event.error, response.status);
    if (event.type === 'result' || event.type === 'approval') return event;
  }
  const hint = 'The call may have run. Look at the feed before you call again.';
  throw new RequestError({ code: 'E_UNREACHABLE', message: 'the answer was cut off', hint, details: {} });
}

async function readJson(response: Response): Promise<CallEnd> {
  const answer = await response.json();
  return response.status === 202 ? { type: 'approval', approval: answer.approval } : { type: 'result', result: answer };
}

async function* readEvents({ body }: Response): AsyncGenerator<StreamedCall> {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let text = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + value).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) yield* toEvents(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function toEvents(block: string): StreamedCall[] {
  const data = /^data: ?(.*)$/m.exec(block)?.[1];
  return data === undefined ? [] : [JSON.parse(data) as StreamedCall];
}
