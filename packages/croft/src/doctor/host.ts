/** The machine as a check sees it, so that a test can show it another one. */
export interface Host {
  /** The text of a file, unpacked if need be, unless it is not there or not ours to read. */
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** By the directories of the system alone, as sandboxes find theirs. */
  findProgram(name: string): string | undefined;
  run(argv: readonly [string, ...string[]], as?: User): Promise<Ran>;
  readonly user: User;
  /** Makes a group with limits and removes it again. */
  tryGroups(): Promise<{ readonly version: 1 | 2 } | { readonly reason: string }>;
  /** Why the init of sandboxes cannot be used, if so. */
  findInitProblem(): string | undefined;
  /** Where Docker listens, if it does. */
  readonly dockerSocket: string;
  /** What a script prints that runs through the whole pipeline, in a sandbox such as agents get. */
  runInside(script: string, network: 'deny-all' | 'restricted', provider?: 'docker'): Promise<Look>;
}

export type Look = { readonly output: string } | { readonly reason: string };

export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A sandbox never runs as somebody with fewer rights than this one. */
export const nobody: User = { uid: 65_534, gid: 65_534 };

export function isRoot({ user }: Host): boolean {
  return user.uid === 0;
}
