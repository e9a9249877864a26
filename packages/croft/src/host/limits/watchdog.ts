import type { RunningProgram, SandboxDenial, SandboxLimits, SandboxUsage } from '../../core/commands/sandbox.ts';
import type { Group } from '../../lib/cgroup/find-groups.ts';
import { createFilesystemSpaceReader } from '../growth/disk-amount.ts';
import { createMeasuringThread } from '../growth/measuring-thread.ts';
import { childrenOf, killProcesses, namespaceOf } from '../growth/namespace-processes.ts';
import { createDiskWatch } from './disk-watch.ts';
import { createProcessWatch } from './process-watch.ts';
import { createProcessorShare } from './processor-share.ts';
import { createQuotaWatch } from './quota-watch.ts';
import { createUsageReader } from './sandbox-usage.ts';

interface WatchdogOptions {
  /** Process id, on this machine, of the sandbox's first process. */
  readonly pid: number;
  readonly limits: SandboxLimits;
  /** As `SandboxSpec.minFreeBytes`. */
  readonly minFreeBytes?: number | undefined;
  /** Directories of this machine that may grow. A workspace is given by its descriptor, `/proc/self/fd/N`. */
  readonly directories: readonly string[];
  /** Bytes that may still be added to the first directory. Left out: no quota applies. */
  readonly left?: (() => Promise<number>) | undefined;
  /** Whether a control group already limits memory and processes. */
  readonly hasGroup: boolean;
  /** The control group of the sandbox, if this process made it. */
  readonly group?: Pick<Group, 'processorMs' | 'giveWay' | 'usage'> | undefined;
  /** As `SandboxSpec.accountId`. */
  readonly accountId?: string | undefined;
  /** Ends the whole sandbox, if its programs cannot be told from those of others. */
  endSandbox(): void;
}

/** Kills the programs of a sandbox that exceed limits which nothing else enforces. */
export interface Watchdog {
  /** Watches a started program and the processes that it leaves behind. */
  watch(running: RunningProgram): RunningProgram;
  /** Returns and removes the limits for which programs were killed since the last call. */
  takeDenials(): SandboxDenial[];
  /** Measures the resources that the programs of the sandbox use. */
  usage(): Promise<SandboxUsage>;
  stop(): void;
}

/** The disk is checked most often, because it can fill up faster than anything else. */
const diskTickMs = 100;
const processesTickMs = 200;
const processorTickMs = 100;

const wholeParts = () => ({ thread: createMeasuringThread(), finder: createFilesystemSpaceReader() });

/** Shares the measuring thread and the free-space reader among all watchdogs of a provider. */
export function createWatchdogs({ thread, finder } = wholeParts()) {
  return {
    start(options: WatchdogOptions): Watchdog {
      const { pid, limits, minFreeBytes, directories, hasGroup, left } = options;
      const namespace = namespaceOf(pid);
      const disk = createDiskWatch({ limits, minFreeBytes, directories, namespace, finder, thread });
      const checks: Check[] = [{ everyMs: diskTickMs, ...disk }];
      if (left && directories[0] !== undefined)
        checks.push({ everyMs: diskTickMs, ...createQuotaWatch({ directory: directories[0], finder, left }) });
      if (!hasGroup && namespace !== undefined) {
        checks.push({ everyMs: processesTickMs, ...createProcessWatch({ limits, namespace, thread }) });
      }
      if (options.group?.processorMs) {
        checks.push({ everyMs: processorTickMs, ...createProcessorShare(options.group, options.accountId) });
      }
      const usage = createUsageReader({ pid, namespace, group: options.group, thread });
      return { ...watchOver(options, namespace, checks), usage };
    },
  };
}

export type Watchdogs = ReturnType<typeof createWatchdogs>;

interface Check {
  readonly everyMs: number;
  check(): Promise<SandboxDenial | undefined>;
  /** Called when a program starts. */
  start?(): void;
  /** Called after the programs were killed. */
  afterKill?(): Promise<void>;
  /** Called when the sandbox is closed. */
  stop?(): void;
}

function watchOver(
  options: WatchdogOptions,
  namespace: string | undefined,
  checks: readonly Check[],
): Omit<Watchdog, 'usage'> {
  const denials = new Map<string, SandboxDenial>();
  let running = 0;
  let isStopped = false;
  // If the kernel does not list children, something may be left behind.
  const isNeeded = () => running > 0 || childrenOf(options.pid)?.length !== 0;
  const rounds = checks.map(({ everyMs, check, afterKill }) =>
    repeat(everyMs, isNeeded, async () => {
      const denial = await check();
      if (!denial || isStopped) return;
      denials.set(denial.rule, denial);
      endPrograms();
      await afterKill?.();
    }),
  );

  return {
    watch(program) {
      const leave = () => running--;
      running++;
      program.exit.then(leave, leave);
      for (const { start } of checks) start?.();
      for (const { wake } of rounds) wake();
      return program;
    },
    takeDenials() {
      const taken = [...denials.values()];
      denials.clear();
      return taken;
    },
    stop() {
      if (isStopped) return;
      isStopped = true;
      for (const { stop } of rounds) stop();
      for (const { stop } of checks) stop?.();
    },
  };

  function endPrograms(): void {
    if (namespace === undefined) options.endSandbox();
    // The namespace is checked again, because process ids of an ended sandbox may be reused.
    else if (namespaceOf(options.pid) === namespace) killProcesses(namespace, options.pid);
  }
}

/** Repeats `work` as long as `isNeeded`. */
function repeat(everyMs: number, isNeeded: () => boolean, work: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wake = () => {
    if (!isStopped) timer ??= setTimeout(tick, everyMs).unref();
  };
  const tick = async () => {
    // A failed check is repeated in a moment, or the sandbox is gone and the result does not matter.
    await work().catch(() => {});
    timer = undefined;
    if (isNeeded()) wake();
  };
  return {
    wake,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
