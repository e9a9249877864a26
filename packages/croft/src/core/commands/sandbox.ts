import type { Readable, Writable } from 'node:stream';
import type { NetworkPolicy } from './network-policy.ts';

/** A program to run, by argv and never as a shell string. */
export interface CommandSpec {
  readonly argv: readonly [string, ...string[]];
  /** Where it starts: the workspace if left out. A path as the program sees it. */
  readonly directory?: string;
  /** Added to the sandbox's own few variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether it gets what is written to `stdin`, or nothing at all. */
  readonly hasInput?: boolean;
  /** Joins its two outputs into `stdout`, in the order in which they were written. */
  readonly isMerged?: boolean;
  /** Gives it a terminal, which joins its two outputs into `stdout`. */
  readonly terminal?: TerminalSize;
  /** Aborting ends the program and everything it started. */
  readonly signal: AbortSignal;
}

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface Exit {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly usage: { readonly userMs: number; readonly systemMs: number; readonly maxRssBytes: number };
}

/** A program under way. Outputs wait for their reader; nobody's memory grows with what a program prints. */
export interface Running {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Settles when the program has ended and all it wrote until then has been read from the sandbox, whatever
   * it left behind. Rejects with an `AppError` if it could not start or the sandbox went away.
   */
  readonly exit: Promise<Exit>;
  /** To the program and its process group. */
  signal(name: NodeJS.Signals): void;
  /** Ends it and everything it started, however far that has gone. */
  kill(): void;
  resize(size: TerminalSize): void;
}

/** What was refused at the fence, for the program's caller: `E_SANDBOX_VIOLATION` without an exception. */
export interface Denial {
  readonly layer: 'file' | 'limit' | 'network' | 'system-call';
  readonly rule: string;
  /** What the program wanted: a path, a host, a call, more than there is. */
  readonly target: string;
  /** What whoever reads this can do about it. */
  readonly next: string;
}

/** The compute of one workspace: a place where nothing but the system and that workspace can be seen. */
export interface Sandbox {
  readonly name: string;
  /** The workspace as a program inside sees it, which is what the model sees. */
  readonly workspacePath: string;
  /** What holds in it, for whoever explains a refusal. */
  readonly network: NetworkPolicy['mode'];
  readonly limits: SandboxLimits;
  start(command: CommandSpec): Running;
  /** What was refused since it was last asked. */
  takeDenials(): Denial[];
  /** Ends every program in it. */
  close(): Promise<void>;
  /** Resolves when it is gone, for whatever reason. */
  readonly closed: Promise<void>;
}

/** At most, for a sandbox as a whole unless it says otherwise. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  /** In cores: 1.5 is one and a half. */
  readonly cpus: number;
  /** Of any one file. */
  readonly fileBytes: number;
  /** Of any one process. */
  readonly openFiles: number;
  /** How much the workspace may grow while a sandbox is open, and how large its `/tmp` is. */
  readonly diskBytes: number;
}

export interface SandboxSpec {
  /** The workspace's directory, open for as long as the workspace is: a name could come to mean another one. */
  readonly directory: number;
  readonly workspacePath: string;
  readonly limits: SandboxLimits;
  readonly network: NetworkPolicy;
  /** Further directories that may be read. */
  readonly readable: readonly string[];
  /** Of this machine, for the package caches of this workspace alone. Left out: they go with the sandbox. */
  readonly cacheDirectory?: string | undefined;
}

/** Code that opens sandboxes of one kind. */
export interface Provider {
  readonly name: string;
  /** Throws `E_SANDBOX_UNAVAILABLE`. Never opens a weaker one than asked for. */
  open(spec: SandboxSpec): Promise<Sandbox>;
}
