import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { serve as serveHttp } from '@hono/node-server';
import type { App } from '../../app/app.ts';
import type { RunnerSocket } from '../../app/fleet/runner-socket.ts';
import { createOperatorTerminals } from '../../app/operator/operator-terminals.ts';
import type { ServerPlatform } from '../../app/platform.ts';
import type { LocalApprovals } from '../../app/records/local-approvals.ts';
import type { ServerBounds } from '../../app/server/server-bounds.ts';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { createElicitation } from '../../mcp/elicitation.ts';
import { createAgentsMcp } from '../../mcp/http/agents-mcp.ts';
import { createMcpHttp } from '../../mcp/http/mcp-http.ts';
import { holderOfToken } from '../../rest/dispatch/identify-caller.ts';
import { toFlagWorkspaces } from '../../rest/flag-workspaces/to-flag-workspaces.ts';
import { toOperatorAccess } from '../../rest/operator/to-operator-access.ts';
import { openDocsFiles } from '../../rest/page/docs-files.ts';
import { readPageFiles } from '../../rest/page/page-files.ts';
import { toRestPlatform } from '../../rest/platform/to-rest-platform.ts';
import { toLinkPath } from '../../rest/routes/browser-sessions.ts';
import { createRestServer } from '../../rest/server.ts';
import { createRunnerUpgrade } from '../../rest/web-sockets/runner-upgrade.ts';
import { serveUpgrades } from '../../rest/web-sockets/serve-upgrades.ts';
import { createTerminalUpgrade } from '../../rest/web-sockets/terminal-upgrade.ts';
import type { CommandContext } from '../command.ts';
import { countWaitingPosts } from './count-waiting-posts.ts';
import { findDocsDirectory, findPageDirectory } from './find-page-directory.ts';

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
  /** The approvals of the person at this machine. Without it, the page does not show the workspaces of flags. */
  readonly local: LocalApprovals | undefined;
  onWarning(message: string): void;
}

/** Serves every HTTP API on one port: REST, MCP, runners and terminals. */
export async function listen(app: App, options: ListenOptions, { stderr, stop }: CommandContext) {
  const { host, port, token, adminToken, platform, tls, approvalWaitMs, maxUploadBytes, hostNames, local } = options;
  const { account, server: shared, times } = options.bounds;
  const maxBodyBytes = shared.requestBytes;
  const onError = (error: Error, requestId?: string) => stderr.write(toLogLine(error, requestId));
  const asking = createElicitation({ key: platform.requestKey, waitMs: approvalWaitMs });
  const mcp = createMcpHttp(app, 'server', {
    maxBodyBytes,
    maxConnections: shared.connections,
    elicitation: asking,
    onError,
  });
  const ofAgents = { maxBodyBytes, maxConnections: account.connections, elicitation: asking, onError };
  const agentsMcp = createAgentsMcp(platform.agents, ofAgents);
  const limits = { ...account, refusalsPerMinute: shared.refusalsPerMinute, uploadBytes: maxUploadBytes };
  const flags = toFlagWorkspaces(app.workspaces, maxUploadBytes);
  const accounts = { ...toRestPlatform(platform, agentsMcp, adminToken), limits };
  const operator = local && toOperatorAccess(accounts, { token, app, local, files: flags });
  const isStopping = () => stop.aborted;
  const rest = createRestServer({
    token,
    hostNames,
    maxBodyBytes,
    onError,
    platform: { ...accounts, operator },
    files: flags,
    page: readPageFiles(findPageDirectory()),
    docs: openDocsFiles(findDocsDirectory()),
    readiness: platform.readiness,
    isStopping,
    mcp: mcp.fetch,
  });

  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>();
  const kind = tls ? { createServer: createSecureServer, serverOptions: tls } : { createServer };
  const server = serveHttp({ fetch: rest.fetch, hostname: host, port, ...kind }, resolve) as Server;
  server.keepAliveTimeout = keepAliveMs;
  const terminals = withOperator(platform.terminals, local && openOperatorTerminals(app, local, options));
  const handlers = [createRunnerUpgrade(options.runners), createTerminalUpgrade(terminals)];
  serveUpgrades(server, { hostNames, handlers, cluster: platform.cluster, isStopping });
  const posts = countWaitingPosts(server);
  server.once('error', ({ message }) => reject(cannotListen(`${host}:${port}`, message)));
  const bound = await promise;

  return {
    url: `http${tls ? 's' : ''}://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    makeSignInLink: () => makeSignInLink(platform, adminToken),
    /** Accepts no new connection, lets calls in progress end, then closes the remaining connections. */
    async stop(): Promise<void> {
      const closed = new Promise((done) => server.close(done));
      await Promise.all([app.toolbox.stop(times.drainMs), platform.agents.stop(times.drainMs)]);
      await posts.drained(flushMs);
      await Promise.all([mcp.close(), agentsMcp.close()]);
      await app.sessions.close();
      flags.feeds.close();
      options.runners.close();
      await terminals.closeOperator();
      await platform.stop(0);
      server.closeAllConnections();
      await closed;
    },
  };
}

function cannotListen(address: string, reason: string): UsageError {
  return new UsageError(`cannot listen on ${address}: ${reason}. Choose another address with --host and --port`);
}

/** The path of a link that signs the operator in at the page, once. */
async function makeSignInLink(platform: ServerPlatform, adminToken: string): Promise<string> {
  const { secret } = await platform.sessions.open(holderOfToken(platform, 'admin', adminToken), 'link');
  return toLinkPath(secret);
}

function openOperatorTerminals(app: App, local: LocalApprovals, { bounds, onWarning }: ListenOptions) {
  const { workspaces } = app;
  const [graceMs, perAccount] = [bounds.times.terminalGraceMs, bounds.account.terminals];
  return createOperatorTerminals({ workspaces, records: local.records, graceMs, perAccount, onWarning });
}

/** Terminals of accounts and of the operator share one address: the ticket says whose terminal it is. */
function withOperator(
  { tickets, enter }: ServerPlatform['terminals'],
  operator: ReturnType<typeof createOperatorTerminals> | undefined,
) {
  return {
    tickets,
    enter: (...[owner, ...rest]: Parameters<typeof enter>) =>
      operator && owner.accountId === operatorId ? operator.enter(owner, ...rest) : enter(owner, ...rest),
    closeOperator: async () => operator?.close(),
  };
}

/** The answer to the client names the same request. */
function toLogLine(error: Error, requestId: string | undefined): string {
  const request = requestId === undefined ? '' : `request ${requestId}: `;
  return `croft: ${request}${error.message}${causeOf(error)}\n`;
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error ? `: ${cause.stack ?? cause.message}` : '';
}
