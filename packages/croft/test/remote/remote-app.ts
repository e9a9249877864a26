import type { AppError } from '@croft/protocol';
import { createAccountQuota } from '../../src/app/accounts/account-quota.ts';
import { openRemoteWorkspace } from '../../src/app/agents/open-remote-workspace.ts';
import { type App, type AppOptions, createApp, type SandboxOptions } from '../../src/app/app.ts';
import { createRunnerOffer } from '../../src/app/offer.ts';
import type { AttachedWorkspace } from '../../src/core/accounts/surface/resolve-surface.ts';
import { createToolbox } from '../../src/core/calls/toolbox.ts';
import { createPostEditChecks, defaultPostEditSettings } from '../../src/core/checks/post-edit/post-edit-checks.ts';
import { createOpenSandboxes } from '../../src/core/commands/open-sandboxes.ts';
import type { RunnerWorkspace } from '../../src/core/runner-workspaces/runner-workspace.ts';
import { createSecrets } from '../../src/core/secrets/secrets.ts';
import { createSession } from '../../src/core/sessions/session.ts';
import { createWorkspaceSet } from '../../src/core/workspace/workspace-set.ts';
import * as detectors from '../../src/detectors/index.ts';
import type { OpenApp } from '../../src/escapes/escape-fixture.ts';
import { createSecretEnvironmentSource } from '../../src/lib/secret-sources.ts';
import type { Peer } from '../../src/link/calls/peer.ts';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { runRunner } from '../../src/runner/run-runner.ts';
import * as tools from '../../src/tools/index.ts';
import { version } from '../../src/version.ts';
import { makeDirectory } from '../support/harness.ts';
import { startLinkEndpoint } from './link-endpoint.ts';

/** Starts a server whose workspaces are all on runners, each behind a real socket on loopback. */
export async function startRemoteApps() {
  const endpoint = await startLinkEndpoint();
  const nothing = makeDirectory();
  return {
    openApp: (async (options) => {
      const { token, peer } = endpoint.expect();
      const runner = startRunnerOf(options, { url: endpoint.url, token });
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
      await endpoint[Symbol.asyncDispose]();
      nothing[Symbol.dispose]();
    },
  };
}

/**
 * The same toolbox as in the program, with the workspace at the other end. The server has no files of the workspace:
 * `nothing` is an empty directory.
 */
export async function openServerOf(options: AppOptions, peer: Peer, nothing: string): ReturnType<OpenApp> {
  const { host, sandbox } = options;
  const server = createApp({ ...options, workspaces: [{ path: nothing }], data: undefined });
  const { emit } = server;
  const workspaceRequest = { namespace: `fs-${'0'.repeat(40)}`, workspace: 'workspace', name: 'workspace' };
  const offered = await createRemoteWorkspace(peer, workspaceRequest);
  const workspaces = createWorkspaceSet([toWorkspace(offered, server, sandbox)]);
  const toolbox = createToolbox({
    ...{
      tools: Object.values(tools),
      workspaces,
      emit,
      onWarning: options.onWarning,
      isIncluded: ({ isHarness }) => !isHarness,
      isListed: () => true,
    },
    renderDiagram: server.renderDiagram,
    secrets: createSecrets([createSecretEnvironmentSource(host.variables)]),
    effects: createPostEditChecks({ detectors: Object.values(detectors), ...defaultPostEditSettings, emit }),
  });
  const openSandbox = (name: string) => workspaces.pick(name).openSandbox();
  return {
    ...{ toolbox, workspaces },
    newSession: (id) => createSession(id, { sandboxIdleMs: 600_000, openSandbox }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

interface RunnerAddress {
  readonly url: string;
  readonly token: string;
  readonly isInsecure?: boolean;
}

/** Runs `croft runner` in this process, because escapes check the whole machine for leftovers. */
export function startRunnerOf(options: AppOptions, { url, token, isInsecure = false }: RunnerAddress): AsyncDisposable {
  const { workspaces, sandbox, host, onWarning } = options;
  const spare = makeDirectory();
  const { data = spare.path } = options;
  const offer = createRunnerOffer({ workspaces, data, sandbox, host, isReadOnly: false, onWarning });
  const stop = new AbortController();
  const about = { labels: {}, capacity: 10, workspaces: offer.names, makesWorkspaces: false };
  const done = runRunner({
    ...{ url, token: () => token, workspaces: offer, isInsecure, signal: stop.signal, say() {} },
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

function toWorkspace(offered: RunnerWorkspace | AppError, { assembleWorkspace }: App, sandbox: SandboxOptions) {
  const limits = { sandboxes: 100, storageBytes: Number.MAX_SAFE_INTEGER };
  const accountQuota = createAccountQuota({
    limits,
    measure: async () => ({ bytes: 0, historyBytes: 0 }),
    now: Date.now,
  });
  const { network } = sandbox;
  const sharesNetwork = network.mode === 'restricted' ? network.onlyPublic !== true : network.mode !== 'public';
  const refuse = async (): Promise<never> => {
    throw new Error('there are no records here');
  };
  const openForks = () => ({ list: async () => [], fork: refuse, merge: refuse, remove: refuse });
  const openSandboxes = createOpenSandboxes(() => new Date());
  const options = {
    assembleWorkspace,
    accountQuota,
    openSandboxes,
    reservations: { use: refuse },
    limits: sandbox.limits,
    sharesNetwork,
    openForks,
  };
  return openRemoteWorkspace(toAttached(sandbox), offered, options, 'a');
}

/** Converts the options of a program to the records of an account. */
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
