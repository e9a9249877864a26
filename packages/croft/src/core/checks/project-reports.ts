import type { DirectoryEntry, Files } from '../files.ts';
import type { Profile } from '../projects/profile.ts';
import type { ReportPlace } from './test-runner.ts';

/** Of modules in a project, and of what hostile trees have no end of. */
const maxDepth = 6;
const maxDirectories = 2000;
const maxEntries = 5000;
const maxReports = 5000;
const maxBytes = 32 * 1024 * 1024;

/** By path: when each was written. */
export type ReportStamps = ReadonlyMap<string, number>;

interface Search {
  readonly files: Files;
  readonly profile: Profile;
  readonly place: ReportPlace;
}

/** The reports that are there now, so that afterwards they can be told from those of the run. */
export async function stampReports({ files, profile, place }: Search): Promise<ReportStamps> {
  const paths = await findReports(files, profile.directory, place);
  const times = await files.modifiedTimes(paths);
  return new Map(paths.map((path, index) => [path, times[index] ?? 0]));
}

/** Those written since: one from an earlier run proves nothing. Nothing if there are none, or more than can be read. */
export async function readNewReports(search: Search, before: ReportStamps): Promise<string | undefined> {
  const now = await stampReports(search);
  const written = [...now].filter(([path, time]) => before.get(path) !== time).map(([path]) => path);
  const texts: string[] = [];
  let room = maxBytes;
  for (const path of written) {
    const text = await readText(search.files, path, room);
    if (text === undefined) return undefined;
    room -= text.length;
    texts.push(text.trim());
  }
  return texts.length === 0 ? undefined : texts.join('\n');
}

async function readText(files: Files, path: string, room: number): Promise<string | undefined> {
  try {
    const { bytes } = await files.read(path, { maxBytes: room });
    return Buffer.from(bytes).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Breadth first, and not into what is fetched. */
async function findReports(files: Files, root: string, { directory, suffix }: ReportPlace): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth <= maxDepth && level.length > 0 && seen < maxDirectories; depth++) {
    const next: string[] = [];
    for (const path of level.slice(0, maxDirectories - seen)) {
      const entries = await listEntries(files, path);
      const isPlace = `/${path}/`.includes(`/${directory}/`);
      const names = entries.filter(({ name, kind }) => isPlace && kind === 'file' && name.endsWith(suffix));
      found.push(...names.map(({ name }) => join(path, name)));
      next.push(...entries.filter(isDirectory).map(({ name }) => join(path, name)));
    }
    seen += level.length;
    level = next.filter((path) => !/(?:^|\/)(?:node_modules|src\/main|src\/test)$/.test(path));
  }
  return found.slice(0, maxReports);
}

const isDirectory = ({ name, kind }: DirectoryEntry) => kind === 'directory' && !name.startsWith('.');

async function listEntries(files: Files, path: string) {
  try {
    return (await files.list(path, { limit: maxEntries })).entries;
  } catch {
    return [];
  }
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
