/** A file of the server that every workspace gets. */
export interface SkillSourceFile {
  /** Path below the synced directory. */
  readonly path: string;
  readonly hash: string;
  readonly isExecutable: boolean;
  read(): Promise<Buffer>;
}

/** A path, and why it was not synced. */
export interface PathReason {
  readonly path: string;
  readonly reason: string;
}

/** The server's skills and agents at one moment. */
export interface OpenedSkillsSource extends Disposable {
  readonly skills: readonly SkillSourceFile[];
  readonly agents: readonly SkillSourceFile[];
  /** Files that exist and are not synced. */
  readonly skipped: readonly PathReason[];
}

/** Source of the server's skills and agents. */
export interface SkillsSource {
  /**
   * Reads the current state. Throws if a part cannot be read: a file is removed from workspaces only if it is known to
   * be gone.
   */
  open(signal: AbortSignal): Promise<OpenedSkillsSource>;
}

export const syncLimits = {
  files: 2000,
  totalBytes: 64 * 1024 * 1024,
  fileBytes: 8 * 1024 * 1024,
  depth: 16,
} as const;
