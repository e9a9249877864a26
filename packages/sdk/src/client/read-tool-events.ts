import { AgentToolAnswer, AgentToolEvent, ApprovalAnswer } from '@croft/protocol';
import { CroftError, toCroftErrorOf } from '../errors/croft-error.ts';
import type { ToolCall } from './agent.ts';
import { readEventBlocks } from './read-event-blocks.ts';

/** A part of what the command of a call prints. */
export type ToolOutput = Pick<Extract<AgentToolEvent, { type: 'output' }>, 'stream' | 'text'>;

/** A part of what the command of a call prints, byte for byte but for secrets. */
export interface ToolBytes extends Pick<ToolOutput, 'stream'> {
  readonly bytes: Uint8Array;
  /** The names of the secrets that marks replace in these bytes. */
  readonly redacted: readonly string[];
}

export interface OutputReceivers {
  readonly onOutput?: ((output: ToolOutput) => Promise<void> | void) | undefined;
  readonly onBytes?: ((output: ToolBytes) => Promise<void> | void) | undefined;
}

/**
 * Reads the answer of a call that is followed while it runs. A call that printed nothing answers as one that nobody
 * follows.
 */
export async function readToolCall(response: Response, receivers: OutputReceivers): Promise<ToolCall> {
  const isFollowed = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isFollowed) return toToolCall(response.status, await response.json());
  for await (const { data } of readEventBlocks(response.body)) {
    if (data === undefined) continue;
    const event = AgentToolEvent.parse(JSON.parse(data));
    if (event.type === 'result') return { result: event.result };
    if (event.type === 'error') throw toCroftErrorOf(event.error);
    await passOn(event, receivers);
  }
  throw new CroftError('E_CONNECTION_LOST', 'the connection broke during the call');
}

function toToolCall(status: number, body: unknown): ToolCall {
  if (status === 202) return { approval: ApprovalAnswer.parse(body).approval };
  return { result: AgentToolAnswer.parse(body) };
}

async function passOn(
  event: Extract<AgentToolEvent, { type: 'output' | 'bytes' }>,
  { onOutput, onBytes }: OutputReceivers,
): Promise<void> {
  const { stream } = event;
  if (event.type === 'bytes')
    await onBytes?.({ stream, bytes: fromBase64(event.base64), redacted: event.redacted ?? [] });
  else if (onBytes) await onBytes({ stream, bytes: new TextEncoder().encode(event.text), redacted: [] });
  else await onOutput?.({ stream, text: event.text });
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
