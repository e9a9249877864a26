import type { AppError } from '@croft/protocol';
import { createAccountRoom } from '../../src/app/account-room.ts';
import { createOffer } from '../../src/app/offer.ts';
import { openRemoteWorkspace } from '../../src/app/runners/remote-workspace.ts';
import { type App, type AppOptions, createApp, type SandboxOptions } from '../../src/app.ts';
import type { AttachedWorkspace } from '../../src/core/accounts/cascade.ts';
import { createEffects } from '../../src/core/checks/effects.ts';
import type { OfferedWorkspace } from '../../src/core/runners/offer.ts';
import { createSecrets } from '../../src/core/secrets.ts';
import { createSession } from '../../src/core/session.ts';
import { createToolbox } from '../../src/core/toolbox.ts';
import { createWorkspaceSet } from '../../src/core/workspace-set.ts';
import * as detectors from '../../src/detectors/index.ts';
import type { OpenApp } from '../../src/escapes/ground.ts';
import { createEnvironmentSource } from '../../src/lib/secret-sources.ts';
import type { Peer } from '../../src/link/peer.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { runRunner } from '../../src/runner/run.ts';
import * as tools from '../../src/tools/index.ts';
import { version } from '../../src/version.ts';
import { makeDirectory } from '../harness.ts';
import { startLinkDoor } from './link-door.ts';

/** A server whose workspaces are all on runners, each of which is one of its own behind a real socket on loopback. */
export async function startRemoteApps() {
  const door = await startLinkDoor();
  const nothing = makeDirectory();
  return {
    openApp: (async (options) => {
      const { token, peer } = door.expect();
      const runner = startRunnerOf(options, { url: door.url, token });
      const server = openServerOf(options, await peer, nothing.path);
      return {
        ...(await server),
        async [Symbol.asyncDispose]() {
          await (await server)[Symbol.asyncDispose]();
          await runner[Symbol.asyncDispose]();
        },
      };
    }) satisfies OpenApp,
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      nothing[Symbol.dispose]();
    },
  };
}

/**
 * The same toolbox as the program has on its own, with everything of the workspace at the other end. The server has
 * no files of the workspace: `nothing` is an empty directory.
 */
export async function openServerOf(options: AppOptions, peer: Peer, nothing: string): ReturnType<OpenApp> {
  const { host, sandbox } = options;
  const server = createApp({ ...options, workspaces: [{ path: nothing }], data: undefined });
  const { emit } = server;
  const wish = { namespace: `fs-${'0'.repeat(40)}`, workspace: 'workspace', name: 'workspace' };
  const offered = await createRemoteWorkspace(peer, wish);
  const workspaces = createWorkspaceSet([toWorkspace(offered, server, sandbox)]);
  const toolbox = createToolbox({
    ...{ tools: Object.values(tools), workspaces, emit, offers: ({ isHarness }) => !isHarness },
    secrets: createSecrets([createEnvironmentSource(host.variables)]),
    effects: createEffects({ detectors: Object.values(detectors), formatOnEdit: false, emit }),
  });
  const openSandbox = (name: string) => workspaces.pick(name).openSandbox();
  return {
    ...{ toolbox, workspaces },
    newSession: (id) => createSession(id, { sandboxIdleMs: 600_000, openSandbox }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface Place {
  readonly url: string;
  readonly token: string;
  readonly isInsecure?: boolean;
}

/** What `croft runner` is, in this process: attempts look for what is left on the machine, not for whose it is. */
export function startRunnerOf(options: AppOptions, { url, token, isInsecure = false }: Place): AsyncDisposable {
  const { workspaces, sandbox, host, onWarning } = options;
  const spare = makeDirectory();
  const { data = spare.path } = options;
  const offer = createOffer({ workspaces, data, sandbox, host, isReadOnly: false, onWarning });
  const stop = new AbortController();
  const about = { labels: {}, capacity: 10, workspaces: offer.names, makesWorkspaces: false };
  const done = runRunner({
    ...{ url, token: () => token, offer, isInsecure, signal: stop.signal, say() {} },
    report: { version, provider: sandbox.provider, ...about },
  });
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await done;
      await offer[Symbol.asyncDispose]();
      spare[Symbol.dispose]();
    },
  };
}

function toWorkspace(offered: OfferedWorkspace | AppError, { furnish }: App, sandbox: SandboxOptions) {
  const limits = { sandboxes: 100, storageBytes: Number.MAX_SAFE_INTEGER };
  const room = createAccountRoom({ limits, measure: async () => 0, now: Date.now });
  const { network } = sandbox;
  const sharesNetwork = network.mode === 'restricted' ? network.onlyPublic !== true : network.mode !== 'public';
  const refuse = async (): Promise<never> => {
    throw new Error('there are no records here');
  };
  const openForks = () => ({ list: async () => [], fork: refuse, merge: refuse, remove: refuse });
  const means = { furnish, room, limits: sandbox.limits, sharesNetwork, openForks };
  return openRemoteWorkspace(toAttached(sandbox), offered, means, 'a');
}

/** The records of an account that say the same as the options of a program. */
function toAttached({ network }: SandboxOptions): AttachedWorkspace {
  const record = { accountId: 'acc', id: 'ws', name: 'workspace', createdAt: '', updatedAt: '', version: 1 };
  const asked =
    network.mode === 'restricted'
      ? { mode: network.mode, allowDomains: network.domains, allowCidrs: network.cidrs }
      : { mode: network.mode === 'deny-all' ? network.mode : ('allow-all' as const) };
  const runtimes = ['bash', 'python', 'node'] as const;
  return {
    name: 'workspace',
    record: { ...record, config: { storage: { provider: 'local' }, home: 'far' } },
    sandbox: { ...record, config: { provider: 'remote', permissionMode: 'bypass', network: asked, runtimes } },
    reads: 'sandbox',
  };
}
