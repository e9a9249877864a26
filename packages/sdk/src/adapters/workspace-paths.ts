import type { Box } from '../box/box.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface PathOptions {
  /** Take `/a` for a path from the root of the workspace, as frameworks do that have one tree of files. */
  readonly isRoot: boolean;
}

/** Paths as a framework writes them, and paths from the root of the workspace. */
export function createWorkspacePaths(box: Pick<Box, 'root'>, { isRoot }: PathOptions) {
  let found: Promise<string> | undefined;
  const root = () => {
    found ??= box.root();
    return found;
  };

  return {
    /** Converts a path to the absolute path that commands see. */
    toAbsolute: async (path: string): Promise<string> => (path === '' ? await root() : `${await root()}/${path}`),

    /** For a command. A directory outside of the workspace is one that commands see. */
    toDirectory: async (path: string): Promise<string> => (path.startsWith('/') ? path : `${await root()}/${path}`),

    /** Converts a path to one from the root of the workspace; empty for the root itself. */
    async toRelative(path: string): Promise<string> {
      const whole = normalize(path);
      if (!path.startsWith('/')) return whole;
      const base = normalize(await root());
      if (whole === base) return '';
      if (whole.startsWith(`${base}/`)) return whole.slice(base.length + 1);
      if (isRoot) return whole;
      throw new CroftError('E_INVALID_PATH', `${path} is not in the workspace, which is at /${base}`, {
        hint: 'Use a path of the workspace, or a command: commands reach the other files of the sandbox.',
      });
    },
  };
}

export type WorkspacePaths = ReturnType<typeof createWorkspacePaths>;

/** Without `.`, `..` and doubled slashes, and without the slash at the beginning. */
function normalize(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw new CroftError('E_INVALID_PATH', `${path} leads out of the workspace`);
  }
  return names.join('/');
}
