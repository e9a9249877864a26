import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serve as listen } from '@hono/node-server';
import type { Platform } from '../../app/platform.ts';
import type { RunnerSocket } from '../../app/runners/runner-socket.ts';
import type { App } from '../../app.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { createAgentsMcp } from '../../mcp/agents-http.ts';
import { createAsking } from '../../mcp/asking.ts';
import { createMcpHttp } from '../../mcp/http.ts';
import { createRunnerDoor } from '../../rest/runner-door.ts';
import { createRestServer } from '../../rest/server.ts';
import { createTerminalDoor } from '../../rest/terminal-door.ts';
import { serveUpgrades } from '../../rest/upgrades.ts';
import { defineCommand, type Terminal, type Values } from '../command.ts';
import { makeDemo } from '../demo.ts';
import { toFlagDoors } from '../flag-doors.ts';
import { openPlatform } from '../open-platform.ts';
import { toPlatform } from '../platform-door.ts';
import { findToken } from '../token.ts';
import { announce, openApp, workspaceOptions } from '../workspace-options.ts';

const maxBodyBytes = 16 * 1024 * 1024;
const drainMs = 10_000;
/** For clients that read; one that does not has had its chance. */
const flushMs = 2000;

const options = {
  ...workspaceOptions,
  demo: {
    type: 'boolean',
    summary: 'serve a workspace named demo, kept in the data directory and made on first start',
  },
  host: { type: 'string', value: 'HOST', summary: 'address to listen on (127.0.0.1)' },
  port: { type: 'string', value: 'PORT', summary: 'port to listen on (7070); 0 takes a free one' },
  addr: { type: 'string', value: 'HOST:PORT', summary: 'both of them at once' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    summary: 'a name clients may call this server by; may be repeated',
  },
  data: { type: 'string', value: 'DIR', summary: 'where the server keeps what is its own' },
  'database-url': {
    type: 'string',
    value: 'URL',
    summary: 'PostgreSQL for records; SQLite in the data directory if left out',
  },
  'account-limit': {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: 'of one account: sandboxes open at once (100) or storage (100g); may be repeated',
  },
  'tls-cert': { type: 'string', value: 'FILE', summary: 'serve HTTPS with this certificate (PEM), with --tls-key' },
  'tls-key': { type: 'string', value: 'FILE', summary: 'the private key of the certificate (PEM)' },
  insecure: { type: 'boolean', summary: 'let runners of other machines connect without TLS; they have to say so too' },
  'runner-grace': {
    type: 'string',
    value: 'SECONDS',
    summary: 'how long a runner that is cut off is waited for (60)',
  },
  'runner-heartbeat': { type: 'string', value: 'SECONDS', summary: 'how often a runner has to be heard (15)' },
  'approval-wait': { type: 'string', value: 'SECONDS', summary: 'how long a call waits for an approval (50)' },
  'approval-webhook': { type: 'string', value: 'URL', summary: 'told of every approval that is asked for' },
} as const;

export const serve = defineCommand({
  name: 'serve',
  usage: 'croft serve [--workspace DIR | --workspaces SPEC | --demo] [--host HOST] [--port PORT] [--data DIR] …',
  summary: 'serve many agents over HTTP: MCP at /mcp',
  options,
  async run({ values }, terminal) {
    const config = terminal.config();
    const data = values.data ?? config.data;
    const address = toAddress(values);
    const approvalWaitMs = toWait(values['approval-wait']);
    const token = findToken(data, config.token);
    const adminToken = findToken(data, config.adminToken, 'admin-token');
    await using app = openApp(values, terminal, values.demo ? [makeDemo(data)] : undefined);
    announce(values, app.workspaces.names, terminal);
    const platform = await openPlatform(app, {
      values,
      data,
      config,
      onWarning: (words) => terminal.stderr.write(`croft: ${words}\n`),
    });

    const { maxUploadBytes } = config;
    const tokens = { token: token.value, adminToken: adminToken.value };
    const runners = platform.openRunners(toRunnerSettings(values));
    const tls = toTls(values);
    const means = { ...address, ...tokens, platform, runners, tls, approvalWaitMs, maxUploadBytes };
    const hostNames = values['allow-host'] ?? [];
    const server = await start(app, { ...means, hostNames }, terminal).catch(async (thrown) => {
      await platform.stop(0);
      throw thrown;
    });
    welcome(server.url, token, adminToken, terminal);
    if (!terminal.stop.aborted) await new Promise((resolve) => terminal.stop.addEventListener('abort', resolve));
    await server.stop();
    return 0;
  },
});

interface StartOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly adminToken: string;
  readonly platform: Platform;
  readonly runners: RunnerSocket;
  /** Left out: HTTP, for what is on this machine or behind a proxy that has the certificate. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly approvalWaitMs: number | undefined;
  readonly maxUploadBytes: number;
  readonly hostNames: readonly string[];
}

async function start(app: App, options: StartOptions, { stderr, stop }: Terminal) {
  const { host, port, token, adminToken, platform, runners, tls, approvalWaitMs, maxUploadBytes, hostNames } = options;
  const onError = (error: Error) => stderr.write(`croft: ${error.message}${causeOf(error)}\n`);
  const asking = createAsking({ key: platform.requestKey, waitMs: approvalWaitMs });
  const mcp = createMcpHttp(app, 'server', { maxBodyBytes, asking, onError });
  const agentsMcp = createAgentsMcp(platform.agents, { maxBodyBytes, asking, onError });
  const flags = toFlagDoors(app.workspaces, maxUploadBytes);
  const rest = createRestServer({
    token,
    hostNames,
    maxBodyBytes,
    onError,
    platform: { ...toPlatform(platform, agentsMcp, adminToken), limits: { uploadBytes: maxUploadBytes } },
    files: flags,
    isStopping: () => stop.aborted,
    mcp: mcp.fetch,
  });

  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const where = { fetch: rest.fetch, hostname: host, port };
  const server = listen(
    tls ? { ...where, createServer: createSecureServer, serverOptions: tls } : { ...where, createServer },
    resolve,
  ) as Server;
  const doors = [createRunnerDoor(runners), createTerminalDoor(platform.terminals)];
  serveUpgrades(server, { hostNames, doors, isStopping: () => stop.aborted });
  const posts = trackPosts(server);
  server.once('error', (thrown) => reject(new UsageError(`cannot listen on ${host}:${port}: ${thrown.message}`)));
  const bound = await promise;

  return {
    url: `http${tls ? 's' : ''}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    /** Takes no new connection, lets the calls under way end, then lets go of the clients that stay. */
    async stop(): Promise<void> {
      const closed = new Promise((done) => server.close(done));
      await Promise.all([app.toolbox.stop(drainMs), platform.agents.stop(drainMs)]);
      await posts.settled(flushMs);
      await Promise.all([mcp.close(), agentsMcp.close()]);
      await app.sessions.close();
      flags.feeds.close();
      runners.close();
      await platform.stop(0);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Counts requests that wait for an answer; a GET may be a stream without an end. */
function trackPosts(server: Server) {
  let [waiting, onSettled] = [0, () => {}];
  server.on('request', ({ method }, response) => {
    if (method === 'GET' || method === 'HEAD') return;
    waiting += 1;
    response.once('close', () => {
      waiting -= 1;
      if (waiting === 0) onSettled();
    });
  });
  return {
    async settled(deadlineMs: number): Promise<void> {
      if (waiting === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onSettled = resolve;
      const timer = setTimeout(resolve, deadlineMs);
      await promise;
      clearTimeout(timer);
    },
  };
}

function welcome(
  url: string,
  token: ReturnType<typeof findToken>,
  adminToken: ReturnType<typeof findToken>,
  { stdout }: Terminal,
): void {
  const headers = { Authorization: `Bearer ${token.file === undefined ? `\${CROFT_TOKEN}` : token.value}` };
  const configuration = { mcpServers: { croft: { type: 'http', url: `${url}/mcp`, headers } } };
  stdout.write(`croft listening on ${url}\n`);
  stdout.write(`token: ${token.file ?? 'from CROFT_TOKEN'}\n`);
  stdout.write(`admin token, for accounts: ${adminToken.file ?? 'from CROFT_ADMIN_TOKEN'}\n`);
  stdout.write(`MCP client configuration:\n${JSON.stringify(configuration, null, 2)}\n`);
}

function toRunnerSettings(values: Values<typeof options>) {
  return {
    allowsInsecure: values.insecure ?? false,
    graceMs: toMs('runner-grace', values['runner-grace'] ?? '60'),
    heartbeatMs: toMs('runner-heartbeat', values['runner-heartbeat'] ?? '15'),
  };
}

function toMs(flag: string, seconds: string): number {
  if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(seconds) || Number(seconds) === 0)
    throw new UsageError(`--${flag} takes seconds, not ${seconds}`);
  return Number(seconds) * 1000;
}

function toTls({ 'tls-cert': cert, 'tls-key': key }: Values<typeof options>) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  try {
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } catch (thrown) {
    throw new UsageError(`the certificate cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`);
  }
}

function toWait(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  if (!/^\d{1,4}$/.test(seconds)) throw new UsageError(`--approval-wait takes seconds, not ${seconds}`);
  return Number(seconds) * 1000;
}

function toAddress({ host, port, addr }: Values<typeof options>) {
  const [, addrHost, addrPort] = /^(.*):(\d+)$/.exec(addr ?? '') ?? [];
  if (addr !== undefined && addrPort === undefined) throw new UsageError(`--addr takes HOST:PORT, not ${addr}`);
  const number = Number(port ?? addrPort ?? 7070);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new UsageError(`--port takes 0 to 65535, not ${port ?? addrPort}`);
  return { host: (host ?? (addrHost || '127.0.0.1')).replace(/^\[(.*)\]$/, '$1'), port: number };
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `: ${cause.stack ?? cause.message}` : '';
}
