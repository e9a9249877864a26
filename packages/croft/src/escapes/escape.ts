import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { SandboxDenial, SandboxLimits } from '../core/commands/sandbox.ts';

/**
 * The guards of a sandbox. Tests remove each guard to see which attacks it stops. `init`: the first process of a
 * sandbox protects itself. `privileges`: no program gains any. `refusal`: no sandbox is opened rather than a weaker
 * one. `server`: limits of the server itself (how long it waits, how much it keeps, what it passes to a search).
 */
export type Guard =
  | 'capabilities'
  | 'control-files'
  | 'environment'
  | 'files'
  | 'init'
  | 'landlock'
  | 'limits'
  | 'mounts'
  | 'namespaces'
  | 'network'
  | 'privileges'
  | 'redaction'
  | 'refusal'
  | 'server'
  | 'system-calls';

/** One attack that is really attempted. */
export interface Escape {
  /** Group letter and number, such as `B27`. An id never changes. */
  readonly id: string;
  /** The attempt in a few words, such as `a user namespace of its own`. */
  readonly title: string;
  /** The guards that stop it. Each of them alone is enough, as far as it reaches; the first one always is. */
  readonly guards: readonly [Guard, ...Guard[]];
  attempt(fixture: EscapeFixture): Promise<EscapeOutcome>;
}

export type EscapeOutcome =
  | { readonly held: true }
  /** The secret that got out, or the effect of the attempt. */
  | { readonly held: false; readonly how: string }
  /** Why this host cannot make the attempt. */
  | { readonly skipped: string };

/** A workspace and a sandbox behind the whole pipeline, with a canary outside that no attack may read or change. */
export interface EscapeFixture {
  /** The path of the workspace on this machine. Programs in the sandbox see it as `inside`. */
  readonly workspace: string;
  readonly inside: string;
  /** A directory beside the workspace, which holds the canary. */
  readonly outside: string;
  /** The random content of the canary file in `outside`. */
  readonly canary: string;
  /** Path inside the sandbox of a program that makes single system calls: see `native/prober`. */
  readonly prober: string;
  /** Runs a command line with the `bash` tool. */
  run(
    script: string,
    options?: { readonly timeoutSeconds?: number; readonly secrets?: readonly string[] },
  ): Promise<ScriptResult>;
  call(tool: string, input: Record<string, unknown>): Promise<CalledTool>;
  /** Opens another workspace and sandbox with other options. It is closed together with this one. */
  open(options: EscapeFixtureOptions): Promise<EscapeFixture>;
  /** Closes the sandbox and ends everything in it. The next call opens a new sandbox on the same workspace. */
  reopen(): Promise<void>;
}

export interface EscapeFixtureOptions {
  /** Files by path, created before the sandbox opens. */
  readonly tree?: Readonly<Record<string, string>>;
  readonly network?: NetworkPolicy;
  readonly limits?: Partial<SandboxLimits>;
  /** Environment variables of the server, including `PATH` and `CROFT_SECRET_…`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Owner of the workspace. By default a user without privileges, even if the server runs as root. */
  readonly owner?: 'nobody' | 'server' | undefined;
  /** The path at which programs see the workspace. By default its own path. */
  readonly root?: string;
  /** Whether a history of the files is kept, for undo and restore. */
  readonly keepsHistory?: boolean;
}

export interface ScriptResult {
  readonly output: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly denials: readonly SandboxDenial[];
}

export interface CalledTool {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}
