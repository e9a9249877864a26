import { AgentToolAnswer, AgentToolEvent, ApprovalAnswer } from '@croft/protocol';
import { CroftError, toCroftErrorOf } from '../errors/croft-error.ts';
import type { ToolCall } from './agent.ts';
import { readEventBlocks } from './read-event-blocks.ts';

/** A part of what the command of a call prints. */
export type ToolOutput = Pick<Extract<AgentToolEvent, { type: 'output' }>, 'stream' | 'text'>;

/**
 * Reads the answer of a call that is followed while it runs. A call that printed nothing answers as one that nobody
 * follows.
 */
export async function readToolCall(
  response: Response,
  onOutput: (output: ToolOutput) => Promise<void> | void,
): Promise<ToolCall> {
  const isFollowed = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isFollowed) return toToolCall(response.status, await response.json());
  for await (const { data } of readEventBlocks(response.body)) {
    if (data === undefined) continue;
    const event = AgentToolEvent.parse(JSON.parse(data));
    if (event.type === 'result') return { result: event.result };
    if (event.type === 'error') throw toCroftErrorOf(event.error);
    await onOutput({ stream: event.stream, text: event.text });
  }
  throw new CroftError('E_CONNECTION_LOST', 'the connection broke during the call');
}

function toToolCall(status: number, body: unknown): ToolCall {
  if (status === 202) return { approval: ApprovalAnswer.parse(body).approval };
  return { result: AgentToolAnswer.parse(body) };
}
