import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { HostOptions } from '../../../src/app/app.ts';
import type { Provider, SandboxLimits, SandboxSpec } from '../../../src/core/commands/sandbox.ts';
import type { Guard } from '../../../src/escapes/escape.ts';
import { sharedSpawner } from '../../../src/init/shared-spawner.ts';
import { findGroups } from '../../../src/lib/cgroup/find-groups.ts';
import { toBwrapArguments } from '../../../src/providers/bubblewrap/bwrap-arguments.ts';
import { createBubblewrap } from '../../../src/providers/bubblewrap/provider.ts';
import type { InitEdit, InitMaker } from './weaken-init.ts';

export interface WeakenOptions {
  readonly makeInit: InitMaker;
  /** More edits of the init's sources. */
  readonly edits?: readonly InitEdit[];
  /** More changes to bubblewrap's arguments. */
  readonly change?: (fence: string[], spec: SandboxSpec) => string[];
  /** A program, with its first arguments, that starts bubblewrap. */
  readonly starter?: readonly string[];
}

/** A provider whose sandboxes lack guards. It still uses bubblewrap, so that no attack runs on the machine itself. */
export function weaken(guards: readonly Guard[], options: WeakenOptions) {
  const { makeInit, edits = [], change = (fence) => fence, starter = [] } = options;
  const lacks = (guard: Guard) => guards.includes(guard);
  const init = makeInit(guards, edits);
  return (host: HostOptions): Provider => {
    const weakFence: typeof toBwrapArguments = (given) => {
      let fence = toBwrapArguments(given);
      if (lacks('namespaces')) fence = shareNamespaces(fence);
      if (lacks('network') && given.spec.network.mode === 'deny-all') fence = shareNetwork(fence);
      if (lacks('mounts')) fence = showMore(fence, given.spec.workspacePath);
      return change(fence, given.spec);
    };
    const spawner: typeof sharedSpawner = {
      ...sharedSpawner,
      start: (request) => sharedSpawner.start({ ...request, argv: startedBy(starter, request.argv) }),
    };
    const parts = { findInit: () => init, toArguments: weakFence, groups: findGroups(), spawner };
    let provider = createBubblewrap({ path: host.path, home: homedir() }, parts);
    if (lacks('limits')) provider = withMore(provider);
    if (lacks('environment')) provider = withVariables(provider, host);
    if (lacks('refusal')) provider = withSomethingElse(provider);
    return provider;
  };
}

function startedBy([program, ...words]: readonly string[], argv: readonly [string, ...string[]]) {
  return program === undefined ? argv : ([program, ...words, ...argv] as const);
}

/** Shares all namespaces but those of users, mounts and the network, which other guards need. */
function shareNamespaces(fence: readonly string[]): string[] {
  return fence
    .filter((word) => word !== '--as-pid-1' && word !== '--hostname' && word !== 'croft')
    .flatMap((word) => (word === '--unshare-all' ? ['--unshare-user', '--unshare-net'] : [word]));
}

export function shareNetwork(fence: readonly string[]): string[] {
  return fence.flatMap((word) => (word === '--unshare-all' ? [word, '--share-net'] : [word]));
}

/** Shows the directory around the workspace, and the machine's own settings. */
function showMore(fence: readonly string[], workspacePath: string): string[] {
  const around = dirname(workspacePath);
  const shown = ['--ro-bind', '/sys', '/sys', ...(around === '/' ? [] : ['--bind', around, around])];
  return fence.flatMap((word, index) => {
    if (word === '--remount-ro' || fence[index - 1] === '--remount-ro') return [];
    return word === '--bind-fd' ? [...shown, word] : [word];
  });
}

/**
 * A few times higher limits, never unlimited, so that attacks stay harmless. The number of processors is limited
 * anyway.
 */
function withMore(provider: Provider): Provider {
  const more = (limits: SandboxLimits): SandboxLimits => ({
    memoryBytes: 4 * limits.memoryBytes,
    processes: 4 * limits.processes,
    fileBytes: 4 * limits.fileBytes,
    openFiles: 4 * limits.openFiles,
    diskBytes: 4 * limits.diskBytes,
    cpus: 40 * limits.cpus,
  });
  return { ...provider, open: (spec) => provider.open({ ...spec, limits: more(spec.limits) }) };
}

function withVariables(provider: Provider, { variables }: HostOptions): Provider {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  return {
    ...provider,
    async open(spec: SandboxSpec) {
      const sandbox = await provider.open(spec);
      const inherited = given as Record<string, string>;
      return {
        ...sandbox,
        start: (command) => sandbox.start({ ...command, environment: { ...inherited, ...command.environment } }),
      };
    },
  };
}

function withSomethingElse(provider: Provider): Provider {
  return {
    ...provider,
    open: (spec) => provider.open(spec).catch(() => provider.open({ ...spec, workspacePath: '/workspace' })),
  };
}
