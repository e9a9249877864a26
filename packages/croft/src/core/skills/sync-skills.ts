import type { Files } from '../files/files.ts';
import { syncedAgentsDirectory, syncedSkillsDirectory } from './skill-directories.ts';
import type { PathReason, SkillsSource } from './skills-source.ts';
import { syncDirectory } from './sync-directory.ts';

export interface SkillsSyncReport {
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
  /** Files of the workspace that block the server's, and stay. */
  readonly conflicts: readonly PathReason[];
  /** Files of the server that are not synced. */
  readonly skipped: readonly PathReason[];
}

interface SyncSkillsOptions {
  readonly signal: AbortSignal;
  /** Called after each step with the number of steps so far. */
  onProgress?(done: number): void;
}

/**
 * Syncs the server's skills and agents to a workspace: `.skills/<name>/…` and `.agents/<name>.md`. A file that the
 * server did not write, or that was changed since, is never touched. Two syncs of one workspace at once may report each
 * other's work; the next finds everything in place.
 */
export async function syncSkills(
  files: Files,
  source: SkillsSource,
  options: SyncSkillsOptions,
): Promise<SkillsSyncReport> {
  const { signal, onProgress } = options;
  let done = 0;
  const onStep = () => onProgress?.(++done);
  using opened = await source.open(signal);
  const skills = await syncDirectory({
    files,
    directory: syncedSkillsDirectory,
    source: opened.skills,
    signal,
    onStep,
  });
  const agents = await syncDirectory({
    files,
    directory: syncedAgentsDirectory,
    source: opened.agents,
    signal,
    onStep,
  });
  return {
    written: [...skills.written, ...agents.written],
    removed: [...skills.removed, ...agents.removed],
    unchanged: skills.unchanged + agents.unchanged,
    conflicts: [...skills.conflicts, ...agents.conflicts],
    skipped: opened.skipped,
  };
}
