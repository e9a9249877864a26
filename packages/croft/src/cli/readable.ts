import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { goQuote } from '../lib/text/go-quote.ts';
import { UsageError } from '../lib/usage-error.ts';

/** What `--allow-read` must not open, however it is written. */
export interface KeptDirectories {
  readonly workspaces: readonly string[];
  readonly data: string;
  readonly home: string;
}

/** Where a sandbox has its own of what this machine has. */
const ownPlaces = ['/proc', '/sys', '/dev', '/var/tmp', '/run/croft', '/home/croft', '/etc/passwd'];

/** The directories themselves, every link resolved: a name may come to mean another one. */
export function toReadable(written: readonly string[], kept: KeptDirectories): string[] {
  return [...new Set(written.map(resolveDirectory))].map((directory) => {
    const problem = findProblem(directory, kept);
    if (problem === undefined) return directory;
    throw new UsageError(`--allow-read ${goQuote(directory)} ${problem}`);
  });
}

/** Whether commands could put something else in the place of the data directory. */
export function isDataOpen({ workspaces, data }: KeptDirectories): boolean {
  return workspaces.some((workspace) => isWithin(toReal(data), toReal(workspace)));
}

function resolveDirectory(written: string): string {
  try {
    const directory = realpathSync(resolve(written));
    if (written !== '' && statSync(directory).isDirectory()) return directory;
  } catch {
    // Said below, with the name as it was written.
  }
  throw new UsageError(`--allow-read takes a directory that is there, not ${goQuote(written)}`);
}

function findProblem(directory: string, { workspaces, data, home }: KeptDirectories): string | undefined {
  if (directory === '/') return 'would open all of this machine; name the directories that are needed';
  const around = [...workspaces, data, home].map(toReal).find((inner) => isWithin(inner, directory));
  if (around !== undefined) return `would open ${goQuote(around)} too; name a directory that does not contain it`;
  // Commands can write there, and so could put a link to anywhere in its place.
  const outer = [...workspaces, data].map(toReal).find((place) => isWithin(directory, place));
  if (outer !== undefined) return `is inside ${goQuote(outer)}; name a directory outside of it`;
  // Below /tmp is fine: it is mounted there afterwards.
  const own = ['/tmp', ...ownPlaces].find(
    (place) => isWithin(place, directory) || (place !== '/tmp' && isWithin(directory, place)),
  );
  return own === undefined ? undefined : `overlaps ${own}, which a sandbox has of its own; name another directory`;
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}

/** Of what may not be there yet: the part of it that is, every link resolved, and the names that are left. */
function toReal(path: string): string {
  const written = resolve(path);
  try {
    return realpathSync(written);
  } catch {
    return join(toReal(dirname(written)), basename(written));
  }
}
