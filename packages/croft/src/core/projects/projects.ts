import type { Files } from '../files.ts';
import { addMakeTargets } from './make-targets.ts';
import type { Detector, Profile, ProjectDirectory } from './profile.ts';
import { applyOverrides } from './profile-overrides.ts';
import { type Ground, openProject, type Stamps, stampOf } from './project-directory.ts';
import { type Directory, survey } from './survey.ts';

const maxProjects = 200;

export interface ProjectsOptions {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  /** Told when what was found is not what was found before. */
  onChange(profiles: readonly Profile[]): void;
}

interface Known {
  readonly surveyed: string;
  readonly stamps: Stamps;
  readonly profiles: readonly Profile[];
}

/**
 * The projects of a workspace, the root's first. Looks each time whether files came, went or changed that the answer
 * came from, so that an edited setting counts at once, and reads only then.
 */
export function createProjects({ files, detectors, onChange }: ProjectsOptions): () => Promise<readonly Profile[]> {
  let known: Known | undefined;
  return async () => {
    const directories = await survey(files);
    const surveyed = JSON.stringify(
      directories.map(({ path, entries }) => [path, entries.map(({ name, kind }) => [name, kind])]),
    );
    if (known?.surveyed === surveyed && (await isUnchanged(files, known.stamps))) return known.profiles;
    const stamps: Stamps = new Map();
    const profiles = await detectAll(directories, detectors, { files, stamps });
    const isNews = JSON.stringify(profiles) !== JSON.stringify(known?.profiles);
    known = { surveyed, stamps, profiles };
    if (isNews) onChange(profiles);
    return profiles;
  };
}

async function detectAll(
  directories: readonly Directory[],
  detectors: readonly Detector[],
  { files, stamps }: Pick<Ground, 'files' | 'stamps'>,
): Promise<readonly Profile[]> {
  const ground = { files, stamps, directories: new Map(directories.map((directory) => [directory.path, directory])) };
  const projects = directories.map((directory) => openProject(ground, directory));
  const marked = await detectIn(projects, detectors, isMarked);
  const found = marked.length > 0 ? marked : await detectIn(projects, detectors, isTraced);
  const said = await applyOverrides(projects, found, detectors);
  return addMakeTargets(projects, said);
}

type Counts = (project: ProjectDirectory, detector: Detector, found: readonly Profile[]) => boolean;

async function detectIn(
  projects: readonly ProjectDirectory[],
  detectors: readonly Detector[],
  counts: Counts,
): Promise<Profile[]> {
  const found: Profile[] = [];
  for (const project of projects) {
    for (const detector of detectors) {
      if (found.length >= maxProjects) return found;
      const profile = counts(project, detector, found) ? await detector.detect(project) : undefined;
      if (profile) found.push(profile);
    }
  }
  return found;
}

function isMarked(project: ProjectDirectory, detector: Detector, found: readonly Profile[]): boolean {
  const names = [...project.names];
  if (names.some((name) => detector.isMarker(name))) return true;
  return names.some((name) => detector.isHint?.(name)) && !isAround(project, detector, found);
}

function isTraced(project: ProjectDirectory, detector: Detector, found: readonly Profile[]): boolean {
  return [...project.names].some((name) => detector.isTrace?.(name)) && !isAround(project, detector, found);
}

/** Directories come before those below them, so what is around one is already found. */
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
