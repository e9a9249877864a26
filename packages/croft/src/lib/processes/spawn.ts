import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

export type { ChildProcess };

interface SpawnOptions {
  /** The whole environment of the child. Nothing of the environment of this process is added. */
  readonly env: Readonly<Record<string, string>>;
  /** A number is a descriptor of this process that the child inherits. */
  readonly stdio: readonly ('ignore' | 'pipe' | number)[];
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * Starts another program; nothing else in Croft does (`scripts/boundaries.ts` enforces that). The child leads its own
 * process group, so that it can be killed together with everything it started.
 */
export function spawnProgram(argv: readonly [string, ...string[]], options: SpawnOptions): ChildProcess {
  const [program, ...args] = argv;
  const { env, stdio, owner } = options;
  return spawn(program, args, { env, cwd: '/', stdio: [...stdio], detached: true, ...owner });
}

/**
 * Runs a program and waits for it synchronously, for work of a few milliseconds that must be done first. Returns its
 * standard error as `complaint`.
 */
export function runProgramSync(
  argv: readonly [string, ...string[]],
  { env, stdio }: Omit<SpawnOptions, 'owner'>,
): { readonly code: number | null; readonly complaint: string } {
  const [program, ...args] = argv;
  const { status, stderr, error } = spawnSync(program, args, { env, cwd: '/', stdio: [...stdio], timeout: 20_000 });
  return { code: status, complaint: error?.message ?? String(stderr ?? '') };
}

/** Runs a program of the user, in their environment, and returns what it printed. It may ask at the terminal. */
export function readProgramSync(argv: readonly [string, ...string[]], { timeoutMs = 60_000 } = {}) {
  const [program, ...args] = argv;
  const limits = { timeout: timeoutMs, maxBuffer: 65_536 };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...limits,
    encoding: 'utf8',
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  return { code: status, output: stdout ?? '', complaint: error?.message ?? stderr ?? '' };
}

export function killProcessGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) killProcess(-pid);
}

/** Kills a process, or a process group if `pid` is negative. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
