import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { readPageFiles } from '../packages/croft/src/rest/page/page-files.ts';
import { createPage } from '../packages/croft/src/rest/page/serve-page.ts';

const session = { accountId: 'acct', username: 'bench', label: 'key', scopes: ['*'], isOperator: false, version: '0' };
const empty = { agents: [], workspaces: [], approvals: [], runners: [], sandboxes: [], audit: [], position: '0' };

let sequence = 0;

/** An event of a call that has ended, as a server sends it. */
function toEvent(): string {
  sequence++;
  const details = { tool: 'edit', workspace: 'notes', title: `src/file-${sequence}.ts`, call: `call ${sequence}` };
  const text = JSON.stringify({ ...details, duration_ms: 12.5, is_error: sequence % 9 === 0 });
  const at = new Date().toISOString();
  const who = {
    accountId: 'acct',
    actor: `agent_${sequence % 20} key_1/default`,
    action: 'call.ended',
    target: 'edit',
  };
  const record = { sequence, at, ...who, details: text, previous: `${sequence - 1}`, hash: `${sequence}` };
  return `id: ${sequence}\ndata: ${JSON.stringify({ type: 'audit', record })}\n\n`;
}

/**
 * Serves the built page with a minimal server that sends events as fast as the bench wants, so that only the page is
 * measured.
 */
export async function startPageServer() {
  const files = readPageFiles(join(import.meta.dirname, '../packages/dashboard/dist'));
  if (!files) throw new Error('the page is not built: npm run setup');
  // The peers of the bench may bring another version of Hono, whose types are not the same ones.
  const page = createPage(files) as unknown as MiddlewareHandler;
  const app = new Hono()
    .use(page)
    .get('/v1/session', (c) => c.json({ session }))
    .all('*', (c) => c.json(empty));
  const streams = new Set<ServerResponse>();
  const answer = getRequestListener(app.fetch);
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/v1/events')) return void answer(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 2000\n\n');
    streams.add(response);
    response.once('close', () => streams.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://croft.localhost:${(server.address() as AddressInfo).port}`,
    isFollowed: () => streams.size > 0,
    emit(count: number): void {
      const events = Array.from({ length: count }, toEvent).join('');
      for (const stream of streams) stream.write(events);
    },
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
