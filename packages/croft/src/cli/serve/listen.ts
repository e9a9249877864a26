import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serve as serveHttp } from '@hono/node-server';
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
import type { Terminal } from '../command.ts';
import { toFlagDoors } from '../flag-doors.ts';
import { toPlatform } from '../platform-door.ts';
import { trackPosts } from './track-posts.ts';

const maxBodyBytes = 16 * 1024 * 1024;
const drainMs = 10_000;
/** For clients that read; one that does not has had its chance. */
const flushMs = 2000;

export interface ListenOptions {
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

/** Every face that is spoken over HTTP, on one port. */
export async function listen(app: App, options: ListenOptions, { stderr, stop }: Terminal) {
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
  const server = serveHttp(
    tls ? { ...where, createServer: createSecureServer, serverOptions: tls } : { ...where, createServer },
    resolve,
  ) as Server;
  const doors = [createRunnerDoor(runners), createTerminalDoor(platform.terminals)];
  serveUpgrades(server, { hostNames, doors, isStopping: () => stop.aborted });
  const posts = trackPosts(server);
  server.once('error', ({ message }) =>
    reject(new UsageError(`cannot listen on ${host}:${port}: ${message}. Say where with --host and --port`)),
  );
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

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `: ${cause.stack ?? cause.message}` : '';
}
