import type { CommandSpec, RunningProgram, Sandbox, SandboxSpec } from '../../commands/sandbox.ts';

/** A program to run, by argv, never as a shell string. Aborting the signal ends it. */
export interface SearchCommand extends Pick<CommandSpec, 'argv' | 'signal'> {
  /**
   * For a program that prints paths with a NUL after each: writes the modification time, as a number and a space,
   * before each path, and drops paths that do not end in `suffix`.
   */
  readonly withTimes?: { readonly suffix: string };
}

export type RunningSearch = Pick<RunningProgram, 'stdout' | 'stderr' | 'exit' | 'kill'>;

/** The sandbox for searches of one workspace: it holds only that workspace, read-only, and a few programs. */
export interface SearchBox extends Pick<Sandbox, 'close' | 'closed'> {
  start(command: SearchCommand): RunningSearch;
}

export interface SearchBoxSpec extends Pick<SandboxSpec, 'directoryFd' | 'workspacePath'> {
  /** Names of the programs that can run in it. It holds nothing else of the system. */
  readonly programs: readonly string[];
}

export interface SearchBoxProvider {
  /** Throws `E_SANDBOX_UNAVAILABLE`; then nothing is searched. */
  open(spec: SearchBoxSpec): Promise<SearchBox>;
}
