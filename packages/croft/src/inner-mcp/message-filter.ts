import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { parseJson } from '../lib/text/parse-json.ts';
import { isObject, type JsonRecord } from './clean-json.ts';

interface MessageFilterOptions {
  /** Whether `id` belongs to a request that is still unanswered. Returns true only once for each request. */
  isAwaited(id: unknown): boolean;
  onMessage(message: JSONRPCMessage): void;
  onRequest(request: JsonRecord): void;
  /** The server exceeded the limit for unrequested messages. */
  onFlood(): void;
}

/** Filters what a server sends. Passes on only answers to open requests and the notification that the tools changed. */
export function createMessageFilter({ isAwaited, onMessage, onRequest, onFlood }: MessageFilterOptions) {
  const unasked = createFloodLimit();

  return (line: Buffer): void => {
    const message = toMessage(line);
    if (message && isAnswer(message) && isAwaited(message.id)) onMessage(message as unknown as JSONRPCMessage);
    else if (!unasked.take(line.length)) onFlood();
    else if (message && !isAnswer(message)) takeUnasked(message);
  };

  function takeUnasked(message: JsonRecord): void {
    if ('id' in message) onRequest(message);
    // Servers also send progress and logs. Nobody here reads them.
    else if (message.method === 'notifications/tools/list_changed')
      onMessage({ jsonrpc: '2.0', method: message.method });
  }
}

function isAnswer(message: JsonRecord): boolean {
  return !('method' in message);
}

/** Returns `undefined` for a line that is not a message: some servers print a greeting. */
function toMessage(line: Buffer): JsonRecord | undefined {
  const message = parseJson(line);
  return isObject(message) && message.jsonrpc === '2.0' ? message : undefined;
}

const windowMs = 10_000;
const maxMessages = 2000;
const maxBytes = 16 * 1024 * 1024;

/**
 * Limits the unrequested messages that one server may send: a number of messages and of bytes in each window of 10 s.
 */
function createFloodLimit(now: () => number = performance.now.bind(performance)) {
  let [since, messages, bytes] = [now(), 0, 0];
  return {
    /** Counts a message of `size` bytes. Returns false when the limit of the current window is exceeded. */
    take(size: number): boolean {
      if (now() - since > windowMs) [since, messages, bytes] = [now(), 0, 0];
      messages += 1;
      bytes += size;
      return messages <= maxMessages && bytes <= maxBytes;
    },
  };
}
