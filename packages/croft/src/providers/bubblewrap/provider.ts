import { randomUUID } from 'node:crypto';
import type { Duplex, Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { Denial, Provider, Sandbox, SandboxLimits, SandboxSpec } from '../../core/sandbox.ts';
import { createInitFinder } from '../../init/binary.ts';
import { connectInit } from '../../init/client.ts';
import { findGroups, type Group } from '../../lib/cgroup.ts';
import { findProgram } from '../../lib/find-program.ts';
import { type ChildProcess, killGroup, spawnProgram } from '../../lib/spawn.ts';
import { ownerOf } from '../../lib/workspace-owner.ts';
import { home, initPath, toFence } from './fence.ts';
import { findToolchains, type Toolchains } from './toolchains.ts';

export interface BubblewrapOptions {
  /** The operator's own, to find toolchains by. */
  readonly path: string;
  readonly home: string;
}

/** Longer than the kernel ever takes to end a namespace that nothing holds. */
const goneWithinMs = 5000;
const enterWithinMs = 10_000;

/** What a sandbox is made of, so that a test can take one away and see what it held. */
export interface BubblewrapParts {
  readonly findInit: () => string;
  readonly toFence: typeof toFence;
  readonly groups: ReturnType<typeof findGroups>;
}

const wholeParts = (): BubblewrapParts => ({ findInit: createInitFinder(), toFence, groups: findGroups() });

/** Sandboxes on this machine by Linux namespaces, each with a small init that starts commands in it. */
export function createBubblewrap({ path, home: operatorHome }: BubblewrapOptions, parts = wholeParts()): Provider {
  const toolchains = findToolchains(path, operatorHome);
  const { groups } = parts;
  return {
    name: 'bubblewrap',
    async open(spec) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      const group = 'create' in groups ? groups.create(`sandbox-${randomUUID()}`, spec.limits) : undefined;
      try {
        const fence = parts.toFence({ spec, toolchains, init: parts.findInit() });
        return await openSandbox({ program, fence, spec, toolchains, group });
      } catch (thrown) {
        await group?.remove();
        throw thrown;
      }
    },
  };
}

interface OpenOptions {
  readonly program: string;
  readonly fence: readonly string[];
  readonly spec: SandboxSpec;
  readonly toolchains: Toolchains;
  readonly group: Group | undefined;
}

async function openSandbox({ program, fence, spec, toolchains, group }: OpenOptions): Promise<Sandbox> {
  const child = spawnProgram(
    [program, '--info-fd', '4', '--block-fd', '5', ...fence, '--', initPath, spec.workspacePath],
    {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', spec.directory],
      owner: ownerOf(spec.directory),
    },
  );
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const words = collectWords(child.stderr as Readable);
  try {
    await enterGroup(child, group);
    const init = await connectInit({
      socket: child.stdio[3] as Duplex,
      workspacePath: spec.workspacePath,
      environment: toEnvironment(toolchains),
      limits: toRlimits(spec.limits, group !== undefined),
    });
    return toSandbox({ spec, init, child, gone, group });
  } catch (cause) {
    killGroup(child);
    await gone;
    throw unavailable('bubblewrap cannot make a sandbox on this host', new Error(words(), { cause }));
  }
}

/** Puts the sandbox under its limits before the first instruction in it runs. */
async function enterGroup(child: ChildProcess, group: Group | undefined): Promise<void> {
  const [told, gate] = (child.stdio as readonly unknown[]).slice(4) as [Readable, Duplex];
  gate.on('error', () => {});
  let text = '';
  const timer = setTimeout(() => killGroup(child), enterWithinMs);
  for await (const chunk of told.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('}')) break;
  }
  clearTimeout(timer);
  const pid = Number(/"child-pid": *(\d+)/.exec(text)?.[1]);
  if (!Number.isInteger(pid)) throw new Error('bubblewrap ended before it began');
  group?.add(pid);
  gate.end('.');
}

interface SandboxParts {
  readonly spec: SandboxSpec;
  readonly init: Awaited<ReturnType<typeof connectInit>>;
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
  readonly group: Group | undefined;
}

function toSandbox({ spec, init, child, gone, group }: SandboxParts): Sandbox {
  const closed = gone.then(() => group?.remove());
  let seen = { memoryKills: 0, refusedForks: 0 };
  return {
    name: 'bubblewrap',
    workspacePath: spec.workspacePath,
    start: init.start,
    takeDenials() {
      if (!group) return [];
      const now = group.usage();
      const denials = toDenials(spec.limits, seen, now);
      seen = now;
      return denials;
    },
    async close() {
      init.close();
      const timer = setTimeout(() => killGroup(child), goneWithinMs);
      await gone;
      clearTimeout(timer);
      await closed;
    },
    closed,
  };
}

type Hits = { readonly memoryKills: number; readonly refusedForks: number };

function toDenials(limits: SandboxLimits, before: Hits, now: Hits): Denial[] {
  const denials: Denial[] = [];
  if (now.memoryKills > before.memoryKills) {
    const target = `${Math.round(limits.memoryBytes / 1024 / 1024)} MB`;
    denials.push({
      layer: 'limit',
      rule: 'memory',
      target,
      next: 'Use less memory at once, or ask for a larger limit.',
    });
  }
  if (now.refusedForks > before.refusedForks) {
    const target = `${limits.processes} processes`;
    denials.push({ layer: 'limit', rule: 'processes', target, next: 'Start fewer at once, or end those left behind.' });
  }
  return denials;
}

/** In the order the init knows them. Without a group, memory and processes are limited for each process or user alone. */
function toRlimits(limits: SandboxLimits, hasGroup: boolean): (number | undefined)[] {
  const { fileBytes, openFiles, processes, memoryBytes } = limits;
  return [undefined, fileBytes, openFiles, ...(hasGroup ? [] : [processes, memoryBytes])];
}

function toEnvironment({ path, environment }: Toolchains): Record<string, string> {
  return {
    ...environment,
    PATH: path.join(':'),
    HOME: home,
    USER: 'croft',
    LANG: 'C.UTF-8',
    TMPDIR: '/tmp',
    TERM: 'dumb',
  };
}

/** The first of what it said, for whoever asks why. */
function collectWords(stderr: Readable): () => string {
  let text = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < 4096) text += chunk;
  });
  return () => text.trim();
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
