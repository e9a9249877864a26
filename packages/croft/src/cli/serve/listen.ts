import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serve as serveHttp } from '@hono/node-server';
import type { App } from '../../app/app.ts';
import type { RunnerSocket } from '../../app/fleet/runner-socket.ts';
import type { ServerPlatform } from '../../app/platform.ts';
import type { ServerBounds } from '../../app/server/server-bounds.ts';
import { packageDirectory } from '../../lib/package-directory.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { createElicitation } from '../../mcp/elicitation.ts';
import { createAgentsMcp } from '../../mcp/http/agents-mcp.ts';
import { createMcpHttp } from '../../mcp/http/mcp-http.ts';
import { toFlagWorkspaces } from '../../rest/flag-workspaces/to-flag-workspaces.ts';
import { readPageFiles } from '../../rest/page/page-files.ts';
import { toRestPlatform } from '../../rest/platform/to-rest-platform.ts';
import { createRestServer } from '../../rest/server.ts';
import { createRunnerUpgrade } from '../../rest/web-sockets/runner-upgrade.ts';
import { serveUpgrades } from '../../rest/web-sockets/serve-upgrades.ts';
import { createTerminalUpgrade } from '../../rest/web-sockets/terminal-upgrade.ts';
import type { CommandContext } from '../command.ts';
import { trackPosts } from './track-posts.ts';

/** Time for clients to read their answers when the server stops. */
const flushMs = 2000;
/**
 * Longer than clients and load balancers keep an idle connection: a server that closes first would cut requests in
 * transit.
 */
const keepAliveMs = 75_000;

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly adminToken: string;
  readonly platform: ServerPlatform;
  readonly bounds: ServerBounds;
  readonly runners: RunnerSocket;
  /** Without it, the server speaks HTTP, for clients on this machine or behind a proxy that has the certificate. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly approvalWaitMs: number | undefined;
  readonly maxUploadBytes: number;
  readonly hostNames: readonly string[];
}

/** Serves every HTTP API on one port: REST, MCP, runners and terminals. */
export async function listen(app: App, options: ListenOptions, { stderr, stop }: CommandContext) {
  const { host, port, token, adminToken, platform, runners, tls, approvalWaitMs, maxUploadBytes, hostNames } = options;
  const { account, server: shared, times } = options.bounds;
  const { requestBytes: maxBodyBytes } = shared;
  const onError = (error: Error) => stderr.write(`croft: ${error.message}${causeOf(error)}\n`);
  const asking = createElicitation({ key: platform.requestKey, waitMs: approvalWaitMs });
  const mcp = createMcpHttp(app, 'server', {
    maxBodyBytes,
    maxConnections: shared.connections,
    elicitation: asking,
    onError,
  });
  const agentsMcp = createAgentsMcp(platform.agents, {
    ...{ maxBodyBytes, maxConnections: account.connections, elicitation: asking, onError },
  });
  const { requestsPerMinute } = account;
  const limits = { requestsPerMinute, refusalsPerMinute: shared.refusalsPerMinute, uploadBytes: maxUploadBytes };
  const flags = toFlagWorkspaces(app.workspaces, maxUploadBytes);
  const rest = createRestServer({
    token,
    hostNames,
    maxBodyBytes,
    onError,
    platform: { ...toRestPlatform(platform, agentsMcp, adminToken), limits },
    files: flags,
    page: readPageFiles(join(packageDirectory, '../dashboard/dist')),
    readiness: platform.readiness,
    isStopping: () => stop.aborted,
    mcp: mcp.fetch,
  });

  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const where = { fetch: rest.fetch, hostname: host, port };
  const server = serveHttp(
    tls ? { ...where, createServer: createSecureServer, serverOptions: tls } : { ...where, createServer },
    resolve,
  ) as Server;
  server.keepAliveTimeout = keepAliveMs;
  const upgradeHandlers = [createRunnerUpgrade(runners), createTerminalUpgrade(platform.terminals)];
  serveUpgrades(server, { hostNames, handlers: upgradeHandlers, isStopping: () => stop.aborted });
  const posts = trackPosts(server);
  server.once('error', ({ message }) =>
    reject(
      new UsageError(`cannot listen on ${host}:${port}: ${message}. Choose another address with --host and --port`),
    ),
  );
  const bound = await promise;

  return {
    url: `http${tls ? 's' : ''}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    /** Accepts no new connection, lets calls in progress end, then closes the remaining connections. */
    async stop(): Promise<void> {
      const closed = new Promise((done) => server.close(done));
      await Promise.all([app.toolbox.stop(times.drainMs), platform.agents.stop(times.drainMs)]);
      await posts.drained(flushMs);
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
