import type { DirectoryEntry, Files } from '../../files/files.ts';
import { pathBelow } from '../../files/workspace-path.ts';
import type { ReportLocation } from '../../project-tools/test-runner.ts';
import type { Profile } from '../../projects/profile.ts';

/** Limits for modules in a project, and for hostile trees that have no end. */
const maxDepth = 6;
const maxDirectories = 2000;
const maxEntries = 5000;
const maxReports = 5000;
const maxBytes = 32 * 1024 * 1024;

/** Modification times by path. */
type ReportStamps = ReadonlyMap<string, number>;

interface ReportSearch {
  readonly files: Files;
  readonly profile: Profile;
  readonly location: ReportLocation;
}

/** Records the reports that exist before a run, to tell them from those that it writes. */
export async function stampReports({ files, profile, location }: ReportSearch): Promise<ReportStamps> {
  const paths = await findReports(files, profile.directory, location);
  const times = await files.modifiedTimes(paths);
  return new Map(paths.map((path, index) => [path, times[index] ?? 0]));
}

/**
 * Reads the reports written since `before`: a report of an earlier run proves nothing. `undefined` if there is no new
 * one, or more than can be read.
 */
export async function readNewReports(search: ReportSearch, before: ReportStamps): Promise<string | undefined> {
  const now = await stampReports(search);
  const written = [...now].filter(([path, time]) => before.get(path) !== time).map(([path]) => path);
  const texts: string[] = [];
  let remainingBytes = maxBytes;
  for (const path of written) {
    const text = await readText(search.files, path, remainingBytes);
    if (text === undefined) return undefined;
    remainingBytes -= text.length;
    texts.push(text.trim());
  }
  return texts.length === 0 ? undefined : texts.join('\n');
}

async function readText(files: Files, path: string, maxTextBytes: number): Promise<string | undefined> {
  try {
    const { bytes } = await files.read(path, { maxBytes: maxTextBytes });
    return Buffer.from(bytes).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Searches breadth first and skips installed packages. */
async function findReports(files: Files, root: string, { directory, suffix }: ReportLocation): Promise<string[]> {
  const found: string[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 0; depth <= maxDepth && level.length > 0 && seen < maxDirectories; depth++) {
    const next: string[] = [];
    for (const path of level.slice(0, maxDirectories - seen)) {
      const entries = await listEntries(files, path);
      const isReportDirectory = `/${path}/`.includes(`/${directory}/`);
      const names = entries.filter(({ name, kind }) => isReportDirectory && kind === 'file' && name.endsWith(suffix));
      found.push(...names.map(({ name }) => pathBelow(path, name)));
      next.push(...entries.filter(isDirectory).map(({ name }) => pathBelow(path, name)));
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
