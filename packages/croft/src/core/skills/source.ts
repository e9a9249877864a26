/** A file of the server that each workspace is to have. */
export interface SourceFile {
  /** Below the directory it is brought to. */
  readonly path: string;
  readonly hash: string;
  readonly isExecutable: boolean;
  read(): Promise<Buffer>;
}

/** A path and why nothing was done with it. */
export interface Reason {
  readonly path: string;
  readonly reason: string;
}

/** What the server has, at one moment. */
export interface OpenSource extends Disposable {
  readonly skills: readonly SourceFile[];
  readonly agents: readonly SourceFile[];
  /** What is there and is not brought anywhere. */
  readonly skipped: readonly Reason[];
}

/** Where the server's skills and agents come from. */
export interface SkillsSource {
  /** As it is now. Throws for what cannot be read: what is not known to be gone is not taken away anywhere. */
  open(signal: AbortSignal): Promise<OpenSource>;
}

export const syncLimits = {
  files: 2000,
  totalBytes: 64 * 1024 * 1024,
  fileBytes: 8 * 1024 * 1024,
  depth: 16,
} as const;
