import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

export type { ChildProcess };

export interface SpawnOptions {
  /** The whole environment of the child. Nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>;
  /** A number is an open handle of ours that the child gets. */
  readonly stdio: readonly ('ignore' | 'pipe' | number)[];
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * The only way this program starts another. The child leads a group of its own, so that it can be ended with
 * everything it started.
 */
export function spawnProgram(argv: readonly [string, ...string[]], options: SpawnOptions): ChildProcess {
  const [program, ...args] = argv;
  const { env, stdio, owner } = options;
  return spawn(program, args, { env, cwd: '/', stdio: [...stdio], detached: true, ...owner });
}

/** For what takes a few milliseconds and has to be done before anything else can be. Answers what it complained of. */
export function runProgramNow(
  argv: readonly [string, ...string[]],
  { env, stdio }: Omit<SpawnOptions, 'owner'>,
): { readonly code: number | null; readonly complaint: string } {
  const [program, ...args] = argv;
  const { status, stderr, error } = spawnSync(program, args, { env, cwd: '/', stdio: [...stdio], timeout: 20_000 });
  return { code: status, complaint: error?.message ?? String(stderr ?? '') };
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) killProcess(-pid);
}

/** A negative number is a group. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
