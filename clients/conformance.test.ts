import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDirectory, startServer } from '../packages/croft/test/support/harness.ts';

/** Those about what we declare: tools, over streamable HTTP. The others want tools, prompts or resources of their own. */
const scenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
] as const;

/** The suite calls tools by names of its own. These are ours that answer in the way it wants. */
const standIns: Record<string, { name: string; arguments: object }> = {
  test_simple_text: { name: 'read', arguments: { file_path: 'a.txt' } },
  test_image_content: { name: 'read', arguments: { file_path: 'pixel.png' } },
  test_error_handling: { name: 'read', arguments: { file_path: 'absent' } },
  test_tool_with_progress: { name: 'bash', arguments: { command: 'sleep 11' } },
};

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const workspace = makeDirectory({ 'a.txt': 'one\n', 'pixel.png': Buffer.from(pixel, 'base64') });
const conformance = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
let server: Awaited<ReturnType<typeof startServer>>;
let relay: Server;

beforeAll(async () => {
  server = await startServer(['--workspace', workspace.path]);
  relay = createServer((incoming, outgoing) => {
    void forward(incoming).then((answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
});

afterAll(async () => {
  relay?.close();
  relay?.closeAllConnections();
  await server?.[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
});

/** As it came, with the token that the suite does not know, and with the names of our tools. */
async function forward(incoming: IncomingMessage): Promise<IncomingMessage> {
  const body = toOwnTools(await text(incoming));
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = incoming.headers;
  const { hostname, port } = new URL(server.url);
  const isLocal = (headers.host ?? '').startsWith('127.0.0.1:') || (headers.host ?? '').startsWith('localhost:');
  const local = { host: `${hostname}:${port}`, ...(headers.origin && { origin: `http://${hostname}:${port}` }) };
  const own = { authorization: `Bearer ${server.token}`, ...(isLocal && local) };
  const outgoing = request({
    ...{ hostname, port, path: incoming.url, method: incoming.method },
    headers: { ...headers, ...own, ...(body !== '' && { 'content-length': Buffer.byteLength(body) }) },
  });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return answer;
}

function toOwnTools(body: string): string {
  if (body === '') return body;
  const message = JSON.parse(body);
  const standIn = message.method === 'tools/call' ? standIns[message.params?.name] : undefined;
  return standIn ? JSON.stringify({ ...message, params: { ...message.params, ...standIn } }) : body;
}

test.each(scenarios)('%s', async (scenario) => {
  const { port } = relay.address() as AddressInfo;
  const args = [conformance, 'server', '--url', `http://127.0.0.1:${port}/mcp`, '--scenario', scenario];
  const child = spawn(process.execPath, args, { cwd: workspace.path, stdio: ['ignore', 'pipe', 'pipe'] });
  const [printed, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect(child.exitCode, `${printed}\n${said}`).toBe(0);
});
