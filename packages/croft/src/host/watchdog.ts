import type { Denial, Running, SandboxLimits } from '../core/commands/sandbox.ts';
import { createMeasuringThread } from '../lib/growth/measuring-thread.ts';
import { childrenOf, endProcesses, namespaceOf } from '../lib/growth/namespace-processes.ts';
import { createRoomFinder } from '../lib/growth/room.ts';
import { createDiskWatch } from './disk-watch.ts';
import { createProcessWatch } from './process-watch.ts';

export interface WatchdogOptions {
  /** On this machine, of the sandbox's first process. */
  readonly pid: number;
  readonly limits: SandboxLimits;
  /** Of this machine: what may grow. A workspace by its handle, `/proc/self/fd/N`. */
  readonly directories: readonly string[];
  /** Whether a control group holds memory and processes already. */
  readonly hasGroup: boolean;
  /** Ends the sandbox itself, where its programs cannot be told from those of others. */
  endSandbox(): void;
}

/** Ends the programs of a sandbox that take more than they may of what nothing else limits. */
export interface Watchdog {
  /** Keeps an eye on a program that was started, and on what it leaves behind. */
  watch(running: Running): Running;
  /** What programs were ended for since it was last asked. */
  takeDenials(): Denial[];
  stop(): void;
}

/** Room for files can be taken faster than anything else. */
const diskTickMs = 100;
const processesTickMs = 200;

const wholeParts = () => ({ thread: createMeasuringThread(), finder: createRoomFinder() });

/** Shares what costs something among all watchdogs of a provider. */
export function createWatchdogs({ thread, finder } = wholeParts()) {
  return {
    start(options: WatchdogOptions): Watchdog {
      const { pid, limits, directories, hasGroup } = options;
      const namespace = namespaceOf(pid);
      const disk = createDiskWatch({ limits, directories, namespace, finder, thread });
      const checks: Check[] = [{ everyMs: diskTickMs, ...disk }];
      if (!hasGroup && namespace !== undefined) {
        checks.push({ everyMs: processesTickMs, ...createProcessWatch({ limits, namespace, thread }) });
      }
      return watchOver(options, namespace, checks);
    },
  };
}

export type Watchdogs = ReturnType<typeof createWatchdogs>;

interface Check {
  readonly everyMs: number;
  check(): Promise<Denial | undefined>;
  /** After the programs were ended. */
  settle?(): Promise<void>;
}

function watchOver(options: WatchdogOptions, namespace: string | undefined, checks: readonly Check[]): Watchdog {
  const denials = new Map<string, Denial>();
  let running = 0;
  let isStopped = false;
  // Where the kernel does not say what was left behind, there may be something.
  const isNeeded = () => running > 0 || childrenOf(options.pid)?.length !== 0;
  const rounds = checks.map(({ everyMs, check, settle }) =>
    repeat(everyMs, isNeeded, async () => {
      const denial = await check();
      if (!denial || isStopped) return;
      denials.set(denial.rule, denial);
      endPrograms();
      await settle?.();
    }),
  );

  return {
    watch(program) {
      const leave = () => running--;
      running++;
      program.exit.then(leave, leave);
      for (const { wake } of rounds) wake();
      return program;
    },
    takeDenials() {
      const taken = [...denials.values()];
      denials.clear();
      return taken;
    },
    stop() {
      isStopped = true;
      for (const { stop } of rounds) stop();
    },
  };

  function endPrograms(): void {
    if (namespace === undefined) options.endSandbox();
    // The names of what is gone can come to mean others.
    else if (namespaceOf(options.pid) === namespace) endProcesses(namespace, options.pid);
  }
}

/** Does something again and again for as long as it is needed. */
function repeat(everyMs: number, isNeeded: () => boolean, work: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wake = () => {
    if (!isStopped) timer ??= setTimeout(tick, everyMs).unref();
  };
  const tick = async () => {
    // What cannot be looked at now can be in a moment, or the sandbox is gone and nobody needs to know.
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
