import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import { createClient } from '@croft/sdk';
import type { App } from '../app/app.ts';
import type { ServerPlatform } from '../app/platform.ts';
import { defaultBounds, type ServerBounds } from '../app/server/server-bounds.ts';
import type { CommandContext } from '../cli/command.ts';
import { useDataDirectory } from '../cli/options/data-directory.ts';
import { openApp } from '../cli/options/workspace-options.ts';
import { claimDataForServing } from '../cli/serve/claim-data-for-serving.ts';
import { openPlatform } from '../cli/serve/open-platform.ts';
import { loadConfig } from '../config.ts';
import { toRestPlatform } from '../rest/platform/to-rest-platform.ts';
import { createRestServer } from '../rest/server.ts';
import type { EmbeddedOptions } from './create-croft.ts';

/** The account of this program. */
const username = 'embedded';
const drainMs = 5000;

/** A program's calls to itself have no rate limit. */
const bounds: ServerBounds = {
  ...defaultBounds,
  account: { ...defaultBounds.account, requestsPerMinute: 1_000_000 },
};

/** Opens what `croft serve` opens, and answers requests without a port. */
export async function openEmbedded({ data: wanted, provider, onWarning = warn }: EmbeddedOptions) {
  const config = { ...loadConfig(process.env) };
  const data = useDataDirectory(wanted ?? join(config.data, 'embedded'));
  const stop = new AbortController();
  await using opened = new AsyncDisposableStack();
  opened.use(claimDataForServing(data, onWarning));
  const values = { data, ...(provider !== undefined && { sandbox: provider }) };
  const terminal = toContext({ ...config, data }, onWarning, stop.signal);
  const app = opened.use(await openApp(values, terminal, { fallback: [], keepsKeys: true }));
  const platform = await openPlatform(app, { values: {}, data, bounds, isReachable: false, config, onWarning });
  opened.defer(() => platform.stop(0));
  opened.defer(() => drain(app, platform));
  opened.defer(() => stop.abort());
  const adminToken = randomBytes(32).toString('base64url');
  const fetch = toFetch(platform, { adminToken, stop: stop.signal, maxUploadBytes: config.maxUploadBytes, onWarning });
  const key = await findKey(fetch, adminToken);
  const parts = opened.move();
  return { fetch, key, close: () => parts.disposeAsync() };
}

interface FetchOptions {
  readonly adminToken: string;
  readonly stop: AbortSignal;
  readonly maxUploadBytes: number;
  onWarning(message: string): void;
}

function toFetch(platform: ServerPlatform, options: FetchOptions): typeof globalThis.fetch {
  const { adminToken, stop, maxUploadBytes, onWarning } = options;
  const refuse = async (): Promise<never> => {
    throw new AppError('E_NOT_FOUND', 'a Croft inside a program has no MCP endpoint', {
      hint: 'Call tools with the SDK, or start croft serve for MCP clients.',
    });
  };
  const limits = { ...bounds.account, refusalsPerMinute: bounds.server.refusalsPerMinute, uploadBytes: maxUploadBytes };
  const rest = createRestServer({
    token: randomBytes(32).toString('base64url'),
    hostNames: [],
    maxBodyBytes: bounds.server.requestBytes,
    platform: { ...toRestPlatform(platform, { fetch: refuse }, adminToken), limits },
    isStopping: () => stop.aborted,
    mcp: refuse,
    onError: ({ message, cause }, requestId) =>
      onWarning(`request ${requestId}: ${message}${cause instanceof Error ? `: ${cause.stack}` : ''}`),
  });
  return async (input, init) => {
    const request = new Request(input, init);
    request.headers.set('host', 'localhost');
    request.signal.throwIfAborted();
    return rest.fetch(request);
  };
}

/** Makes the key of this program's account. The key of an earlier run stops working, so no key has to be stored. */
async function findKey(fetch: typeof globalThis.fetch, token: string): Promise<string> {
  const { accounts } = createClient({ baseUrl: 'http://localhost', token, fetch });
  for await (const { accountId, username: name } of accounts.all())
    if (name === username) return (await accounts.in(accountId).rotateSecret()).secret;
  return (await accounts.create({ username })).secret;
}

async function drain(app: App, platform: ServerPlatform): Promise<void> {
  await Promise.all([app.toolbox.stop(drainMs), platform.agents.stop(drainMs)]);
  await app.sessions.close();
}

function toContext(
  config: ReturnType<typeof loadConfig>,
  onWarning: (message: string) => void,
  stop: AbortSignal,
): CommandContext {
  const lines = new Writable({
    decodeStrings: false,
    write(text: string, _, done) {
      onWarning(text.trimEnd().replace(/^croft: /, ''));
      done();
    },
  });
  const onHangUp = () => ({ [Symbol.dispose]: () => {} });
  return { config: () => config, stdin: Readable.from([]), stdout: lines, stderr: lines, stop, onHangUp };
}

function warn(message: string): void {
  process.stderr.write(`croft: ${message}\n`);
}
