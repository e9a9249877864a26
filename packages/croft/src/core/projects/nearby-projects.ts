import { posix } from 'node:path';
import type { Files } from '../files/files.ts';
import { cacheDirectories } from './cache-directories.ts';
import { createProjectFinder } from './find-projects.ts';
import { listDirectoriesTo } from './list-project-directories.ts';
import type { Detector, Profile } from './profile.ts';

/** How long a detected project counts as current, unless a changed file is one of its settings. */
const freshMs = 1000;
const maxKnownDirectories = 4096;

export interface NearbyProjects {
  /** Returns the projects in the directories from the root to a file. */
  around(path: string): Promise<readonly Profile[]>;
  /** Must be called for each changed file before `of` is called because of the change. */
  fileChanged(path: string): void;
}

interface NearbyProjectsOptions {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  now(): number;
}

interface KnownDirectory {
  readonly detect: () => Promise<readonly Profile[]>;
  profiles: readonly Profile[];
  /** The round in which `profiles` were detected. */
  round: number;
}

/**
 * Finds the projects around an edited file. A survey of the whole workspace takes far longer than an edit, and only
 * directories above a file decide which projects apply to it. Directories are cached for all files below them: within a
 * round an edit costs nothing, and in the next round a stat of each directory above it.
 */
export function createNearbyProjects({ files, detectors, now }: NearbyProjectsOptions): NearbyProjects {
  const knownDirectories = new Map<string, KnownDirectory>();
  /** Directories that had a project. */
  const projectDirectories = new Set<string>();
  const rounds = createRounds(now);
  const remembered = cacheDirectories(files, rounds.current);

  return {
    async around(path) {
      const entry = open(toDirectory(path));
      const round = rounds.current();
      if (entry.round === round) return entry.profiles;
      entry.profiles = await entry.detect();
      for (const { directory } of entry.profiles) projectDirectories.add(directory);
      entry.round = round;
      return entry.profiles;
    },
    fileChanged(path) {
      if (isSetting(path)) rounds.next();
    },
  };

  function open(directory: string): KnownDirectory {
    const known = knownDirectories.get(directory);
    if (known) return known;
    if (knownDirectories.size >= maxKnownDirectories) forgetDirectories();
    const listDirectories = () => listDirectoriesTo(remembered.find, directory);
    const detect = createProjectFinder({ files: remembered.files, detectors, listDirectories, onChange() {} });
    const entry: KnownDirectory = { detect, profiles: [], round: Number.NaN };
    knownDirectories.set(directory, entry);
    return entry;
  }

  function forgetDirectories(): void {
    knownDirectories.clear();
    projectDirectories.clear();
  }

  /** Whether a file marks a project, or lies beside the files of one. */
  function isSetting(path: string): boolean {
    const [name, directory] = [posix.basename(path), toDirectory(path)];
    if (name === 'croft.toml' || posix.basename(directory) === '.croft') return true;
    if (detectors.some((detector) => detector.isMarker(name) || detector.isHint?.(name) || detector.isTrace?.(name)))
      return true;
    return projectDirectories.has(directory);
  }
}

function toDirectory(path: string): string {
  const directory = posix.dirname(path);
  return directory === '.' ? '' : directory;
}

/** Counts rounds. A round ends after `freshMs`, or as soon as a setting changes. */
function createRounds(now: () => number) {
  let [number, beganAt] = [0, Number.NEGATIVE_INFINITY];
  const next = () => {
    [number, beganAt] = [number + 1, now()];
  };
  return {
    next,
    current(): number {
      if (now() - beganAt >= freshMs) next();
      return number;
    },
  };
}
