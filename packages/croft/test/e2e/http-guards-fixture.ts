import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';

export type Server = Awaited<ReturnType<typeof startServer>>;

export const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
export const workspace = makeDirectory({ 'a.txt': 'one\n' });
/** Shared by all tests of the file that imports this. */
export let server: Server;

beforeAll(async () => {
  server = await startServer(['--workspace', workspace.path, '--allow-host', 'croft.example']);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
});

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly json: unknown;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export const mcp = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends one request on its own connection, with path and headers exactly as written. */
export function send(
  { method = 'GET', path, headers = {}, body }: Sent,
  to: Pick<Server, 'url'> = server,
): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const outgoing = request(toOptions(to, { method, path, headers: { ...headers, ...length } }));
  const answer = toAnswer(outgoing);
  outgoing.end(body);
  return answer;
}

export function toOptions({ url }: Pick<Server, 'url'>, rest: RequestOptions): RequestOptions {
  const { hostname, port } = new URL(url);
  return { hostname, port, agent: false, ...rest };
}

export async function toAnswer(outgoing: ReturnType<typeof request>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // After the answer, the rest of a refused upload may fail, which nobody waits for.
  outgoing.on('response', resolve).on('error', reject);
  const response = await promise;
  const body = await text(response);
  return { status: response.statusCode ?? 0, headers: response.headers, body, json: toJson(body) };
}

function toJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
