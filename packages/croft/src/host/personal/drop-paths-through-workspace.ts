import { pathResolvesThrough } from '../../lib/files/path-resolves-through.ts';
import { realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import type { HostTools } from '../toolchains/host-tools.ts';
import { isBelow } from '../toolchains/toolchains.ts';

/**
 * Removes every host path that leads through the workspace: a command that ran there may have put a link in the way, to
 * any file of this machine, and may do so between the check and the mount. Files of the workspace itself are visible
 * anyway, so PATH and variables name them by their real path.
 */
export function dropPathsThroughWorkspace(tools: HostTools, workspace: string): HostTools {
  const isDetour = (path: string) => pathResolvesThrough(path, workspace);
  const inWorkspace = (entry: string) => (isDetour(entry) ? realpathOrSelf(entry) : entry);
  const hidden = new Map(
    tools.files.filter(({ source }) => isDetour(source)).map((file) => [file.target, file.source]),
  );
  const environment = Object.entries(tools.environment).flatMap(([name, value]) => {
    const source = hidden.get(value);
    if (source === undefined) return [[name, value] as const];
    return isBelow(source, workspace) ? [[name, source] as const] : [];
  });
  return {
    directories: tools.directories.filter((directory) => !isDetour(directory)),
    path: tools.path.map(inWorkspace),
    environment: Object.fromEntries(environment),
    files: tools.files
      .filter(({ target }) => !hidden.has(target))
      .map(({ source, target }) => ({ source: realpathOrSelf(source), target })),
  };
}
