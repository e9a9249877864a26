import type { Files } from './files.ts';
import type { Detector, Profile } from './profile.ts';
import { type Directory, openProject, type ReadFile, stampOf } from './project-directory.ts';

/** Beyond these nobody keeps a project of their own, and hostile trees have no end. */
const maxDepth = 4;
const maxDirectories = 500;
const maxEntries = 5000;

/** What is made or fetched rather than written. */
const notWritten = new Set([
  ...['node_modules', 'bower_components', 'vendor', 'target', 'dist', 'build', 'out', 'obj', 'coverage', 'deps'],
  ...['venv', 'env', '__pycache__', 'site-packages', 'Pods', 'zig-cache', 'zig-out', '_build'],
]);

export interface ProjectsOptions {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  /** Told when what was found is not what was found before. */
  onChange(profiles: readonly Profile[]): void;
}

interface Known {
  readonly surveyed: string;
  readonly read: readonly ReadFile[];
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
    const surveyed = JSON.stringify(directories.map(({ path, entries }) => [path, entries.map(({ name }) => name)]));
    if (known?.surveyed === surveyed && (await isUnchanged(files, known.read))) return known.profiles;
    const read: ReadFile[] = [];
    const profiles = await detectAll(directories, { files, detectors, read });
    const isNews = JSON.stringify(profiles) !== JSON.stringify(known?.profiles);
    known = { surveyed, read, profiles };
    if (isNews) onChange(profiles);
    return profiles;
  };
}

interface Detection {
  readonly files: Files;
  readonly detectors: readonly Detector[];
  readonly read: ReadFile[];
}

async function detectAll(directories: readonly Directory[], { files, detectors, read }: Detection): Promise<Profile[]> {
  const found: Profile[] = [];
  for (const directory of directories) {
    const names = directory.entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => name);
    const project = openProject(files, directory, (file) => read.push(file));
    for (const detector of detectors) {
      const profile = names.some(detector.isMarker) ? await detector.detect(project) : undefined;
      if (profile) found.push(profile);
    }
  }
  return found;
}

/** The directories that may be projects, breadth first. One that cannot be read is none. */
async function survey(files: Files): Promise<Directory[]> {
  const found: Directory[] = [];
  let level = [''];
  for (let depth = 0; depth <= maxDepth && level.length > 0; depth++) {
    const room = maxDirectories - found.length;
    const listed = await Promise.all(level.slice(0, room).map((path) => list(files, path)));
    const there = listed.filter((directory) => directory !== undefined);
    found.push(...there);
    level = there.flatMap(childrenOf);
  }
  return found;
}

async function list(files: Files, path: string): Promise<Directory | undefined> {
  try {
    const { entries } = await files.list(path, { limit: maxEntries });
    return { path, entries };
  } catch {
    return undefined;
  }
}

function childrenOf({ path, entries }: Directory): string[] {
  return entries
    .filter(({ name, kind }) => kind === 'directory' && !name.startsWith('.') && !notWritten.has(name))
    .map(({ name }) => (path === '' ? name : `${path}/${name}`));
}

async function isUnchanged(files: Files, read: readonly ReadFile[]): Promise<boolean> {
  const stamps = await Promise.all(read.map(({ path }) => stampOf(files, path)));
  return stamps.every((stamp, index) => stamp === read[index]?.stamp);
}
