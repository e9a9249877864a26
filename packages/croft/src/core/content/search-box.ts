import type { Readable } from 'node:stream';

/** A program to run, by argv and never as a shell string. */
export interface SearchCommand {
  readonly argv: readonly [string, ...string[]];
  /** Aborting ends the program and everything it started. */
  readonly signal: AbortSignal;
}

export interface SearchExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Searching {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the program is gone and its output has ended. Rejects with an `AppError` if it could not start. */
  readonly exit: Promise<SearchExit>;
  kill(): void;
}

/** The compute of one workspace: a place where nothing but that workspace and a few programs can be seen. */
export interface SearchBox {
  readonly name: string;
  /** The workspace as a program inside sees it; commands start there. */
  readonly workspacePath: string;
  start(command: SearchCommand): Searching;
}

export interface SearchBoxSpec {
  /** The workspace's directory, open for as long as the workspace is: a name could come to mean another one. */
  readonly directory: number;
  readonly workspacePath: string;
  /** Names of the system's programs that can be run in it. Nothing else of the system is there. */
  readonly programs: readonly string[];
}

/** Code that opens sandboxes of one kind. */
export interface SearchBoxProvider {
  readonly name: string;
  open(spec: SearchBoxSpec): Promise<SearchBox>;
}
