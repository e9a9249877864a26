import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';

/** Directories that `--allow-read` must not open, however the path is written. */
export interface ProtectedDirectories {
  readonly workspaces: readonly string[];
  readonly data: string;
  readonly home: string;
}

/** Paths where a sandbox has its own files instead of those of this machine. */
const sandboxOwnPaths = ['/proc', '/sys', '/dev', '/var/tmp', '/run/croft', '/home/croft', '/etc/passwd'];

/** Resolves the directories of `--allow-read`, with every link, because a link may be changed later. */
export function toReadable(written: readonly string[], protectedDirectories: ProtectedDirectories): string[] {
  return [...new Set(written.map(resolveDirectory))].map((directory) => {
    const problem = findProblem(directory, protectedDirectories);
    if (problem === undefined) return directory;
    throw new UsageError(`--allow-read ${goQuote(directory)} ${problem}`);
  });
}

/** Whether the data directory is inside a workspace, where commands could replace it. */
export function isDataInWorkspace({ workspaces, data }: ProtectedDirectories): boolean {
  return workspaces.some((workspace) => isWithin(toReal(data), toReal(workspace)));
}

function resolveDirectory(written: string): string {
  try {
    const directory = realpathSync(resolve(written));
    if (written !== '' && statSync(directory).isDirectory()) return directory;
  } catch {
    // Reported below, with the path as it was written.
  }
  throw new UsageError(`--allow-read takes a directory that is there, not ${goQuote(written)}`);
}

function findProblem(directory: string, { workspaces, data, home }: ProtectedDirectories): string | undefined {
  if (directory === '/') return 'would open all of this machine; name the directories that are needed';
  const around = [...workspaces, data, home].map(toReal).find((inner) => isWithin(inner, directory));
  if (around !== undefined) return `would open ${goQuote(around)} too; name a directory that does not contain it`;
  // Commands can write there, and could replace the directory with a link to anywhere.
  const outer = [...workspaces, data].map(toReal).find((other) => isWithin(directory, other));
  if (outer !== undefined) return `is inside ${goQuote(outer)}; name a directory outside of it`;
  // A directory below /tmp is fine: it is mounted after the sandbox's own /tmp.
  const own = ['/tmp', ...sandboxOwnPaths].find(
    (other) => isWithin(other, directory) || (other !== '/tmp' && isWithin(directory, other)),
  );
  return own === undefined ? undefined : `overlaps ${own}, which a sandbox has of its own; name another directory`;
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}

/**
 * Resolves every link of a path that may not exist yet: the existing part is resolved and the other names are appended.
 */
function toReal(path: string): string {
  const written = resolve(path);
  try {
    return realpathSync(written);
  } catch {
    return join(toReal(dirname(written)), basename(written));
  }
}
