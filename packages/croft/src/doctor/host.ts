import type { TemporaryBaseReport } from '../lib/files/temporary-base.ts';

/** The host as the checks see it. Tests replace it by a stand-in. */
export interface Host {
  /** Returns the text of a file (gunzipped if it ends in .gz), or `undefined` if the file is missing or unreadable. */
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** Looks only in system directories, as sandboxes do. */
  findProgram(name: string): string | undefined;
  run(argv: readonly [string, ...string[]], as?: HostUser): Promise<ProgramResult>;
  readonly user: HostUser;
  /** Creates a control group with limits and removes it again. */
  tryControlGroups(): Promise<{ readonly version: 1 | 2 } | { readonly reason: string }>;
  /** Why the init of sandboxes cannot be used, or `undefined` if it can. */
  findInitProblem(): string | undefined;
  /** The command that compiles the init. */
  readonly nativeFix: string;
  /** The directory for caches and sockets, and what is wrong with it. */
  readonly temporaryFiles: TemporaryBaseReport;
  /** The path of Docker's socket, whether or not Docker is installed. */
  readonly dockerSocket: string;
  /** Runs a script through the whole pipeline, in a sandbox as agents get it, and returns what it printed. */
  runInSandbox(script: string, network: 'deny-all' | 'restricted', provider?: 'docker'): Promise<SandboxProbe>;
}

type SandboxProbe = { readonly output: string } | { readonly reason: string };

export interface HostUser {
  readonly uid: number;
  readonly gid: number;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The least privileged user that a sandbox may run as. */
export const nobody: HostUser = { uid: 65_534, gid: 65_534 };

export function isRoot({ user }: Host): boolean {
  return user.uid === 0;
}
