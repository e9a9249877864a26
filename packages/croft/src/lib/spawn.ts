import { type ChildProcess, spawn } from 'node:child_process';

export type { ChildProcess };

export interface SpawnOptions {
  /** The whole environment of the child. Nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Entered before the owner is taken on, so that it need not be able to find the way there. */
  readonly directory?: string;
  readonly stdio: readonly ('ignore' | 'pipe')[];
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * The only way this program starts another. The child leads a group of its own, so that it can be ended with
 * everything it started.
 */
export function spawnProgram(argv: readonly [string, ...string[]], options: SpawnOptions): ChildProcess {
  const [program, ...args] = argv;
  const { env, directory: cwd = '/', stdio, owner } = options;
  return spawn(program, args, { env, cwd, stdio: [...stdio], detached: true, ...owner });
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
