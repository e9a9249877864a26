import type { Files } from '../files.ts';
import { syncedAgents, syncedSkills } from './places.ts';
import type { Reason, SkillsSource } from './source.ts';
import { syncDirectory } from './sync-directory.ts';

export interface SyncReport {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
  /** Files of the workspace that are in the way of the server's, and stay. */
  readonly conflicts: readonly Reason[];
  /** Files of the server that are brought nowhere. */
  readonly skipped: readonly Reason[];
}

export interface SyncOptions {
  readonly signal: AbortSignal;
  /** Told after each step, of how many are known yet. */
  onProgress?(done: number): void;
}

/**
 * Brings the server's skills and agents to a workspace: `.skills/<name>/…` and `.agents/<name>.md`. A file that the
 * server did not bring, or that was changed since, is never touched. Of two at once on one workspace each may find the
 * other's work and report it; the next finds everything in place.
 */
export async function syncSkills(files: Files, source: SkillsSource, options: SyncOptions): Promise<SyncReport> {
  const { signal, onProgress } = options;
  let done = 0;
  const onStep = () => onProgress?.(++done);
  using opened = await source.open(signal);
  const skills = await syncDirectory({ files, directory: syncedSkills, source: opened.skills, signal, onStep });
  const agents = await syncDirectory({ files, directory: syncedAgents, source: opened.agents, signal, onStep });
  return {
    written: [...skills.written, ...agents.written],
    removed: [...skills.removed, ...agents.removed],
    unchanged: skills.unchanged + agents.unchanged,
    conflicts: [...skills.conflicts, ...agents.conflicts],
    skipped: opened.skipped,
  };
}
