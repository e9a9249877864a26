import type { CommandSpec, Running, Sandbox, SandboxSpec } from '../commands/sandbox.ts';

/** A program to run, by argv and never as a shell string. Aborting ends it. */
export interface SearchCommand extends Pick<CommandSpec, 'argv' | 'signal'> {
  /**
   * It prints paths that each end in NUL; before each shall come when it was last changed, as a number and a space. Those
   * that do not end in `suffix` are left out.
   */
  readonly withTimes?: { readonly suffix: string };
}

export type Searching = Pick<Running, 'stdout' | 'stderr' | 'exit' | 'kill'>;

/** Where searches of one workspace run: a place where nothing but that workspace, read-only, and a few programs are. */
export interface SearchBox extends Pick<Sandbox, 'close' | 'closed'> {
  start(command: SearchCommand): Searching;
}

export interface SearchBoxSpec extends Pick<SandboxSpec, 'directory' | 'workspacePath'> {
  /** Names of the system's programs that can be run in it. Nothing else of the system is there. */
  readonly programs: readonly string[];
}

export interface SearchBoxProvider {
  /** Throws `E_SANDBOX_UNAVAILABLE`, and then nothing is searched. */
  open(spec: SearchBoxSpec): Promise<SearchBox>;
}
