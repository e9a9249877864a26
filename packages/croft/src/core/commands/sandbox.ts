import type { Readable, Writable } from 'node:stream';
import type { NetworkPolicy } from './network-policy.ts';

/** A program to run, by argv, never as a shell string. */
export interface CommandSpec {
  readonly argv: readonly [string, ...string[]];
  /** The working directory as the program sees it. Left out: the workspace. */
  readonly directory?: string;
  /** Variables in addition to the few of the sandbox. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Connects `stdin`. Left out: the program has no input. */
  readonly hasInput?: boolean;
  /** Merges both outputs into `stdout`, in the order in which they were written. */
  readonly isMerged?: boolean;
  /** Gives the program a terminal, which merges both outputs into `stdout`. */
  readonly terminal?: TerminalSize;
  /** Aborting ends the program and everything it started. */
  readonly signal: AbortSignal;
}

/** For a command that no sandbox can start: too long, or with a NUL byte. */
export const plainCommandHint =
  'Nothing ran. Use a shorter command without NUL bytes: write long data to a file, and name the file.';

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

export interface ProgramExit {
  /** `null` when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly usage: { readonly userMs: number; readonly systemMs: number; readonly maxRssBytes: number };
}

/** A running program. Its outputs wait for a reader, so no memory grows with what it prints. */
export interface RunningProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the program has ended and all of its output has been read from the sandbox, whatever processes it
   * left behind. Rejects with an `AppError` if it could not start or the sandbox is gone.
   */
  readonly exit: Promise<ProgramExit>;
  /** Sends a signal to the program and its process group. */
  signal(name: NodeJS.Signals): void;
  /** Kills the program and everything that it started, at any depth. */
  kill(): void;
  resize(size: TerminalSize): void;
}

/** Something that the sandbox refused, for the caller of the program: `E_SANDBOX_VIOLATION` without an exception. */
export interface SandboxDenial {
  readonly layer: 'file' | 'limit' | 'network' | 'system-call';
  readonly rule: string;
  /** The refused target: a path, a host, a system call, or a limit. */
  readonly target: string;
  /** The next step for the reader. */
  readonly next: string;
}

/** The compute of one workspace: programs in it see only the system and that workspace. */
export interface Sandbox {
  readonly name: string;
  /** The workspace path as programs inside see it, and as the model sees it. */
  readonly workspacePath: string;
  /** The private temporary directory of the programs inside. */
  readonly temporaryPath: string;
  /** The network mode, for explanations of denials. */
  readonly network: NetworkPolicy['mode'];
  readonly limits: SandboxLimits;
  /**
   * Resolves when everything that the command may need is present. Rejects with the reason of its signal. Left out:
   * everything is present.
   */
  ready?(command: Pick<CommandSpec, 'argv' | 'signal'>): Promise<void>;
  start(command: CommandSpec): RunningProgram;
  /** Receives a function that describes the running program. Left out: nobody asks for it. */
  onActivity?(activity: () => string): void;
  /** Measures what its programs use. Left out: the provider does not measure it. */
  usage?(): Promise<SandboxUsage>;
  /** Returns the denials since the last call. */
  takeDenials(): SandboxDenial[];
  /** Stops every program in it until the returned function is called. Left out: that is not possible. */
  suspend?(): () => void;
  /** Closes the sandbox and kills every program in it. */
  close(): Promise<void>;
  /**
   * Ends a sandbox that several sessions share, with the programs of all of them: one of them has lost its access.
   * Left out: it has one session, and `close` ends it.
   */
  end?(reason: string): Promise<void>;
  /** Resolves when the sandbox is gone, for whatever reason. */
  readonly closed: Promise<void>;
  /** Resolves when the sandbox takes no more commands, which may be long before it is cleared away. */
  readonly ended?: Promise<void> | undefined;
}

/** Current usage of the programs of a sandbox. A value is `undefined` if it cannot be measured. */
export interface SandboxUsage {
  readonly processes?: number | undefined;
  readonly memoryBytes?: number | undefined;
  /** Processor time since the sandbox was opened. */
  readonly processorMs?: number | undefined;
  /** Addresses inside the sandbox at which programs listen. */
  readonly ports: readonly ListeningPort[];
}

export interface ListeningPort {
  readonly port: number;
  readonly address: string;
}

/** Upper limits, for the whole sandbox unless said otherwise. */
export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  /** Cores; 1.5 is one and a half. */
  readonly cpus: number;
  /** Limit per file. */
  readonly fileBytes: number;
  /** Limit per process. */
  readonly openFiles: number;
  /** How much the workspace may grow while a sandbox is open, and how large its `/tmp` is. */
  readonly diskBytes: number;
}

/** Settings that commands get from the owner of the workspace. */
export interface PersonalSettings {
  /** Variables that the person passes on. */
  readonly environment: Readonly<Record<string, string>>;
  /** Author of commits. `undefined`: as the person's git says. `none`: no author is set. */
  readonly gitIdentity?: GitIdentity | 'none' | undefined;
}

export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

export interface SandboxSpec {
  /**
   * Descriptor of the workspace directory, open for as long as the workspace is: a path could come to mean another
   * directory.
   */
  readonly directoryFd: number;
  readonly workspacePath: string;
  /** Commands can read the workspace and not change it. Left out: they can change it. */
  readonly isReadOnly?: true | undefined;
  readonly limits: SandboxLimits;
  /** All sandboxes of an account have one share of the processors. Left out: each sandbox has its own share. */
  readonly accountId?: string | undefined;
  readonly network: NetworkPolicy;
  /** Further directories that commands may read. */
  readonly readable: readonly string[];
  /** Names of control files that commands may change, such as `.vscode`. Left out: none. */
  readonly allowControl?: readonly string[] | undefined;
  /** Returns how many bytes the workspace may still grow. Left out: no quota. */
  remainingQuota?: (() => Promise<number>) | undefined;
  /** With fewer free bytes on a disk that the sandbox writes to, programs that grow are killed. Left out: 0. */
  readonly minFreeBytes?: number | undefined;
  /** Left out: the workspace belongs to an account, and its commands get nothing of the operator's. */
  readonly personal?: PersonalSettings | undefined;
  /** Directory of this machine for the package caches of this workspace alone. Left out: caches go with the sandbox. */
  readonly cacheDirectory?: string | undefined;
}

/** Code that opens sandboxes of one kind. */
export interface Provider {
  readonly name: string;
  /** Opens a sandbox. Throws `E_SANDBOX_UNAVAILABLE`, and never opens a weaker one than requested. */
  open(spec: SandboxSpec): Promise<Sandbox>;
}
