import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { parseJson } from '../../lib/text/parse-json.ts';

/** A line that is not a JSON-RPC message. `answer` is the error for its sender. */
export class MalformedLine extends Error {
  override readonly name = 'MalformedLine';
  readonly answer: object;

  constructor(code: number, message: string, id: unknown = null) {
    super(message);
    this.answer = { jsonrpc: '2.0', id, error: { code, message } };
  }
}

/**
 * Parses a line and checks its shape, because the protocol layer silently ignores malformed messages. Methods and
 * params are left to the protocol layer. Throws a `MalformedLine` for a line that must be answered, another `Error` for
 * one that must not.
 */
export function readMessage(line: Buffer): JSONRPCMessage {
  const message = parse(line);
  if (!isObject(message)) throw new MalformedLine(-32600, 'a line is not a JSON-RPC message of its own');
  const isAnswer = !('method' in message) && ('result' in message || 'error' in message);
  if (isAnswer && message.jsonrpc !== '2.0') throw new Error('an answer is not of JSON-RPC 2.0');
  if (!isAnswer && !isCall(message))
    throw new MalformedLine(-32600, 'a line is not a JSON-RPC 2.0 message', isId(message.id) ? message.id : null);
  return message as unknown as JSONRPCMessage;
}

function parse(line: Buffer): unknown {
  const value = parseJson(line);
  if (value === undefined) throw new MalformedLine(-32700, 'a line is not JSON');
  return value;
}

function isCall({ jsonrpc, id, method, params }: Record<string, unknown>): boolean {
  const hasWords = jsonrpc === '2.0' && typeof method === 'string';
  return hasWords && (id === undefined || isId(id)) && (params === undefined || isObject(params));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(id: unknown): boolean {
  return typeof id === 'string' || Number.isSafeInteger(id);
}
