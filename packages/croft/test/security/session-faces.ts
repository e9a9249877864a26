import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Account, type Json, mustBe } from '../support/servers/platform.ts';

/** Every way to name the session of a request. */
export const faces = [
  'REST',
  'MCP of 2025 by Croft-Session',
  'MCP of 2025 by _meta',
  'MCP of 2026 by Croft-Session',
  'MCP of 2026 by Mcp-Session-Id',
  'MCP of 2026 by _meta',
] as const;
export type Face = (typeof faces)[number];

export type Named = Awaited<ReturnType<typeof speak>>;

/** Opens a session of an agent over one of the faces. `call` returns the text of an answer or a refusal. */
export async function speak(face: Face, account: Account, agentId: string, session: string | undefined) {
  return face === 'REST' ? speakRest(account, agentId, session) : speakMcp(face, account, agentId, session);
}

function speakRest(account: Account, agentId: string, session: string | undefined) {
  const headers = session === undefined ? undefined : { 'croft-session': session };
  const get = async (what: string) =>
    mustBe(200, await account.send('GET', `/v1/agents/${agentId}/${what}`, undefined, headers));
  return {
    tools: async (): Promise<string[]> => (await get('tools')).tools.map(({ name }: Json) => name),
    prompt: async (): Promise<string> => (await get('prompt')).prompt,
    call: async (tool: string, input: object) =>
      JSON.stringify((await account.call(agentId, tool, input, headers)).body),
    again: (): never => neverOver('REST'),
    hangUp: (): never => neverOver('REST'),
    [Symbol.asyncDispose]: async () => {},
  };
}

function neverOver(face: string): never {
  throw new Error(`there is no connection over ${face}`);
}

async function speakMcp(face: Face, account: Account, agentId: string, session: string | undefined) {
  const isInMeta = face.endsWith('_meta');
  const headers = {
    authorization: `Bearer ${account.secret}`,
    ...(session !== undefined && !isInMeta && { [headerOf(face)]: session }),
  };
  const url = new URL(`/v1/agents/${agentId}/mcp`, account.url);
  // No SDK client names a session in `_meta` of its handshake by itself.
  const withMeta: typeof fetch = (to, init) => fetch(to, { ...init, ...(init?.body && { body: name(init.body) }) });
  const name = (body: unknown) => JSON.stringify(inSession(JSON.parse(String(body)), session));
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    ...(isInMeta && session !== undefined && { fetch: withMeta }),
  });
  const client = new Client(
    { name: 'croft-test', version: '1.0.0' },
    face.includes('2026') ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {},
  );
  await client.connect(transport);
  return {
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    prompt: async () => client.getInstructions() ?? '',
    async call(tool: string, input: object) {
      const { content, structuredContent, _meta } = await client.callTool({ name: tool, arguments: { ...input } });
      return JSON.stringify([content, structuredContent, _meta]);
    },
    /** Sends another request on this connection with another session name. */
    async again(by: '_meta' | 'header', other: string) {
      const body = { jsonrpc: '2.0', id: 77, method: 'tools/list', params: {} };
      return post(url, by === '_meta' ? inSession(body, other) : body, {
        ...{ authorization: headers.authorization, 'mcp-session-id': transport.sessionId ?? '' },
        ...(by === 'header' && { 'croft-session': other }),
      });
    },
    hangUp: () => transport.terminateSession(),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Sends one request of 2026 with any session names. */
export async function speakRaw(
  account: Account,
  agentId: string,
  { headers, meta }: { headers?: Record<string, string> | undefined; meta?: string | undefined },
) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'croft-test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } };
  return post(new URL(`/v1/agents/${agentId}/mcp`, account.url), meta === undefined ? body : inSession(body, meta), {
    ...{ authorization: `Bearer ${account.secret}`, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    ...headers,
  });
}

/** The same in the way of the face. */
export function speakRawBy(face: Face, account: Account, agentId: string, session: string) {
  if (face.endsWith('_meta')) return speakRaw(account, agentId, { meta: session });
  return speakRaw(account, agentId, { headers: { [headerOf(face)]: session } });
}

function headerOf(face: Face): string {
  return face.endsWith('by Mcp-Session-Id') ? 'mcp-session-id' : 'croft-session';
}

function inSession(message: Json, session: string | undefined): Json {
  if (message.method === undefined) return message;
  const { params = {} } = message;
  return { ...message, params: { ...params, _meta: { ...params._meta, 'croft/session': session } } };
}

async function post(url: URL, body: unknown, headers: Record<string, string>) {
  const accept = 'application/json, text/event-stream';
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const data = text.startsWith('{') ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? '{}');
  return { status: response.status, body: JSON.parse(data) as Json };
}
