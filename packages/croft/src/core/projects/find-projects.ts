import type { Files } from '../files/files.ts';
import { addMakeTargets } from './add-make-targets.ts';
import { isSameDirectory, type ListedDirectory, listProjectDirectories } from './list-project-directories.ts';
import type { Detector, Profile, ProjectDirectory } from './profile.ts';
import { applyOverrides } from './profile-overrides.ts';
import { openProjectDirectory, type ProjectTree, type Stamps, stampOf } from './project-directory.ts';

const maxProjects = 200;

interface ProjectFinderOptions {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  /** Lists directories that may hold projects. Left out: those of the whole workspace. */
  listDirectories?(): Promise<readonly ListedDirectory[]>;
  /** Called when the detected projects differ from those before. */
  onChange(profiles: readonly Profile[]): void;
}

interface KnownProjects {
  readonly directories: readonly ListedDirectory[];
  readonly stamps: Stamps;
  readonly profiles: readonly Profile[];
}

/**
 * Returns a function that detects the projects of a workspace, the root's first. Each call checks whether a file that
 * the result depends on came, went or changed, so that an edited setting counts at once, and detects again only then.
 */
export function createProjectFinder(options: ProjectFinderOptions): () => Promise<readonly Profile[]> {
  const { files, detectors, listDirectories = () => listProjectDirectories(files), onChange } = options;
  let known: KnownProjects | undefined;
  return async () => {
    const directories = await listDirectories();
    if (known && areSame(known.directories, directories) && (await isUnchanged(files, known.stamps)))
      return known.profiles;
    const stamps: Stamps = new Map();
    const profiles = await detectAll(directories, detectors, { files, stamps });
    const isNews = JSON.stringify(profiles) !== JSON.stringify(known?.profiles);
    known = { directories, stamps, profiles };
    if (isNews) onChange(profiles);
    return profiles;
  };
}

function areSame(ones: readonly ListedDirectory[], others: readonly ListedDirectory[]): boolean {
  if (ones.length !== others.length) return false;
  return ones.every((one, at) => {
    const other = others[at];
    return other !== undefined && isSameDirectory(one, other);
  });
}

async function detectAll(
  directories: readonly ListedDirectory[],
  detectors: readonly Detector[],
  { files, stamps }: Pick<ProjectTree, 'files' | 'stamps'>,
): Promise<readonly Profile[]> {
  const tree = { files, stamps, directories: new Map(directories.map((directory) => [directory.path, directory])) };
  const projects = directories.map((directory) => openProjectDirectory(tree, directory));
  const marked = await detectIn(projects, detectors, isMarked);
  const { found, left } = marked.found.length > 0 ? marked : await detectIn(projects, detectors, isTraced);
  const overridden = await applyOverrides(projects, found, detectors);
  return addMakeTargets(projects, addLimitProblem(overridden, left));
}

/** Adds a problem if there are more projects than the limit: projects beyond it cannot be used. */
function addLimitProblem(profiles: readonly Profile[], left: number): readonly Profile[] {
  if (left === 0) return profiles;
  const problem = `only the first ${maxProjects} projects are known, and ${left} more are not: open a directory further down as a workspace of its own`;
  return profiles.map((profile, index) =>
    index === 0 ? { ...profile, problems: [...(profile.problems ?? []), problem] } : profile,
  );
}

type Counts = (project: ProjectDirectory, detector: Detector, found: readonly Profile[]) => boolean;

async function detectIn(
  projects: readonly ProjectDirectory[],
  detectors: readonly Detector[],
  counts: Counts,
): Promise<{ found: Profile[]; left: number }> {
  const found: Profile[] = [];
  let left = 0;
  for (const project of projects) {
    for (const detector of detectors.filter((one) => counts(project, one, found))) {
      const profile = found.length < maxProjects ? await detector.detect(project) : undefined;
      if (profile) found.push(profile);
      else if (found.length >= maxProjects) left += 1;
    }
  }
  return { found, left };
}

function isMarked(project: ProjectDirectory, detector: Detector, found: readonly Profile[]): boolean {
  const names = [...project.names];
  if (names.some((name) => detector.isMarker(name))) return true;
  return names.some((name) => detector.isHint?.(name)) && !isAround(project, detector, found);
}

function isTraced(project: ProjectDirectory, detector: Detector, found: readonly Profile[]): boolean {
  return [...project.names].some((name) => detector.isTrace?.(name)) && !isAround(project, detector, found);
}

/** Directories come before those below them, so projects around this one are already found. */
function isAround({ path }: ProjectDirectory, { language }: Detector, found: readonly Profile[]): boolean {
  return found.some(
    (profile) =>
      profile.language === language && (profile.directory === '' || path.startsWith(`${profile.directory}/`)),
  );
}

async function isUnchanged(files: Files, stamps: Stamps): Promise<boolean> {
  const same = await Promise.all([...stamps].map(async ([path, stamp]) => (await stampOf(files, path)) === stamp));
  return same.every(Boolean);
}
