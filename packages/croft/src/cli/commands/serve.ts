import { hostname } from 'node:os';
import type { App } from '../../app/app.ts';
import { putServerFirst } from '../../lib/cgroup/put-server-first.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { limitHeapGrowth } from '../../lib/processes/limit-heap-growth.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { useDataDirectory } from '../options/data-directory.ts';
import { announce, openApp } from '../options/workspace-options.ts';
import { toBounds } from '../serve/bound-options.ts';
import { claimDataForServing } from '../serve/claim-data-for-serving.ts';
import { makeDemoWorkspace } from '../serve/demo-workspace.ts';
import { findServerToken } from '../serve/find-server-token.ts';
import { listen } from '../serve/listen.ts';
import { openPlatform } from '../serve/open-platform.ts';
import { pageUrl } from '../serve/page-url.ts';
import { serveFlags } from '../serve/serve-flags.ts';
import { toAddress, toAdvertised, toHostNames, toRunnerSettings, toTls, toWait } from '../serve/serve-settings.ts';

export const serve = defineCommand({
  name: 'serve',
  usage: 'croft serve [--workspace DIR | --workspaces SPEC | --demo] [--host HOST] [--port PORT] [--data DIR] …',
  examples: ['croft serve', 'croft serve --workspace . --port 7070'],
  options: serveFlags,
  takesOnlyFlags: true,
  async run({ values }, terminal) {
    const config = terminal.config();
    const address = toAddress(values);
    const hostNames = toHostNames(values);
    const approvalWaitMs = toWait(values['approval-wait']);
    const runnerSettings = toRunnerSettings(values);
    const tls = toTls(values);
    const bounds = toBounds(values);
    const data = useDataDirectory(values.data ?? config.data);
    const onWarning = (words: string) => terminal.stderr.write(`croft: ${words}\n`);
    using claim = claimDataForServing(data, onWarning);
    putServerFirst();
    limitHeapGrowth();
    const fallback = values.demo ? [makeDemoWorkspace(data)] : undefined;
    await using app = await openApp(values, terminal, { fallback, keepsKeys: true });
    using _hangUps = terminal.onHangUp(app.reopenEvents);
    const token = findServerToken(data, config.token);
    const adminToken = findServerToken(data, config.adminToken, 'admin-token');
    announce(values, app.workspaces.names, terminal);
    const platform = await openPlatform(app, {
      values,
      data,
      bounds,
      isReachable: true,
      config,
      onWarning,
    });

    const local = await openLocal(app, onWarning);
    const { maxUploadBytes } = config;
    const tokens = { token: token.value, adminToken: adminToken.value };
    const runners = platform.openRunners(runnerSettings);
    const listenOptions = { ...address, ...tokens, platform, bounds, runners, tls, approvalWaitMs, maxUploadBytes };
    const server = await listen(app, { ...listenOptions, hostNames, local, onWarning }, terminal).catch(
      async (thrown) => {
        await platform.stop(0);
        throw thrown;
      },
    );
    claim.tellAddress(server.url);
    await platform.announce({ host: hostname(), address: toAdvertised(values) ?? server.url });
    welcome(server.url, token, adminToken, terminal);
    await offerPage(server, local !== undefined, terminal);
    if (!terminal.stop.aborted) await new Promise((resolve) => terminal.stop.addEventListener('abort', resolve));
    await server.stop();
    return 0;
  },
});

/** The link is good for one sign-in within a minute. `croft open` makes another. */
async function offerPage(
  { url, makeSignInLink }: Awaited<ReturnType<typeof listen>>,
  isForOperator: boolean,
  { stdout }: CommandContext,
): Promise<void> {
  if (!isForOperator) return;
  stdout.write(`the page, signed in once within a minute: ${pageUrl(url)}${await makeSignInLink()}\n`);
  stdout.write('later: croft open\n');
}

/** The server works without them: only the page does not show the workspaces of flags. */
async function openLocal({ localApprovals }: App, onWarning: (words: string) => void) {
  return localApprovals?.().catch((thrown) => {
    onWarning(`the page cannot show the workspaces of flags: ${errorMessage(thrown)}`);
    return undefined;
  });
}

function welcome(
  url: string,
  token: ReturnType<typeof findServerToken>,
  adminToken: ReturnType<typeof findServerToken>,
  { stdout }: CommandContext,
): void {
  const headers = { Authorization: `Bearer ${token.file === undefined ? `\${CROFT_TOKEN}` : token.value}` };
  const configuration = { mcpServers: { croft: { type: 'http', url: `${url}/mcp`, headers } } };
  stdout.write(`croft listening on ${url}\n`);
  stdout.write(`token: ${token.file ?? 'from CROFT_TOKEN'}\n`);
  stdout.write(`admin token, for accounts: ${adminToken.file ?? 'from CROFT_ADMIN_TOKEN'}\n`);
  stdout.write(`MCP client configuration:\n${JSON.stringify(configuration, null, 2)}\n`);
}
