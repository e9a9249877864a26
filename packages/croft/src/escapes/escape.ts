import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Denial, SandboxLimits } from '../core/commands/sandbox.ts';

/**
 * The parts of the fence, so that each can be taken away to see what it held. `init` is what the first process of a
 * sandbox does to be out of reach, `privileges` that nobody in it ever gains any, `refusal` that there is no sandbox
 * rather than a weaker one, `server` what this program does for itself: how long it waits, how much it keeps, what it
 * hands to a search.
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

/** One attack, really attempted. */
export interface Escape {
  /** Group and number, which never change: `B27`. */
  readonly id: string;
  /** What is attempted, in a few words: `a user namespace of its own`. */
  readonly title: string;
  /** What holds it: the first by itself, and where there are more of them each by itself, as far as they reach. */
  readonly guards: readonly [Guard, ...Guard[]];
  attempt(ground: Ground): Promise<Outcome>;
}

export type Outcome =
  | { readonly held: true }
  /** What got out, or what the attempt did instead of being refused. */
  | { readonly held: false; readonly how: string }
  /** It cannot be attempted on this host, and why. */
  | { readonly skipped: string };

/** A workspace with a sandbox behind the whole pipeline, and a canary outside that nobody may read or touch. */
export interface Ground {
  /** The workspace on this machine; as programs see it, it is `inside`. */
  readonly workspace: string;
  readonly inside: string;
  /** A directory of this machine beside the workspace. */
  readonly outside: string;
  /** What the canary file in `outside` says. Unguessable. */
  readonly canary: string;
  /** A program that makes single system calls, as programs inside see it: see `native/prober`. */
  readonly prober: string;
  /** A command line through the `bash` tool. */
  run(
    script: string,
    options?: { readonly timeoutSeconds?: number; readonly secrets?: readonly string[] },
  ): Promise<Ran>;
  call(tool: string, input: Record<string, unknown>): Promise<Called>;
  /** Another workspace and sandbox, made another way. Goes with this one. */
  open(options: GroundOptions): Promise<Ground>;
  /** Closes the sandbox, and ends all that runs in it. The next call opens another on the same workspace. */
  reopen(): Promise<void>;
}

export interface GroundOptions {
  /** Files that are there before the sandbox opens, by path. */
  readonly tree?: Readonly<Record<string, string>>;
  readonly network?: NetworkPolicy;
  readonly limits?: Partial<SandboxLimits>;
  /** Variables of the server, `PATH` and `CROFT_SECRET_…` among them. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Who the workspace belongs to. Somebody without privileges if left out, also where the server runs as root. */
  readonly owner?: 'nobody' | 'server' | undefined;
  /** Where programs see the workspace. Its own path if left out. */
  readonly root?: string;
  /** Whether what happens to the files is kept, to go back to. */
  readonly keepsHistory?: boolean;
}

export interface Ran {
  readonly output: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly denials: readonly Denial[];
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
}
