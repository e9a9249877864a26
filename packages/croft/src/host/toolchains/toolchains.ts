import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canReach, type Owner, realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import { systemDirectories } from '../sandbox-paths.ts';
import { toolchainLocations } from './toolchain-locations.ts';

export interface Toolchains {
  /** Directories to mount read-only at their own paths. */
  readonly directories: readonly string[];
  /** Directories of programs, in the order of the operator's PATH. */
  readonly path: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Added to a PATH that lacks some of them. */
const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * Finds the toolchains that the operator has installed, from PATH. Nothing else of the operator's home is shown.
 * Entries of PATH stay in order if they are visible in the sandbox: in a toolchain, in the system or in a `readable`
 * directory.
 */
export function findToolchains(path: string, operatorHome: string, readable: readonly string[] = []): Toolchains {
  const entries = toEntries(path);
  const used = toolchainLocations(resolve(operatorHome)).filter(({ folder }) =>
    entries.some((entry) => isBelow(entry, folder) || isBelow(realpathOrSelf(entry), folder)),
  );
  const elsewhere = entries.filter((entry) => entry.startsWith('/opt/'));
  const directories = [
    ...used.flatMap(({ shows }) => shows),
    ...elsewhere.map((entry) => (entry.endsWith('/bin') && dirname(entry) !== '/opt' ? dirname(entry) : entry)),
  ];
  const shown = [...new Set(directories)].filter(exists);
  const visible = [...systemDirectories, ...shown, ...readable];
  const isVisible = (entry: string) =>
    visible.some((directory) => isBelow(entry, directory)) ||
    used.some(({ folder, hasPrograms }) => hasPrograms && entry === folder);
  const inside = entries.map((entry) => (isVisible(entry) ? entry : realpathOrSelf(entry))).filter(isVisible);
  return {
    directories: shown,
    path: [...new Set([...inside, ...systemPath])],
    environment: Object.assign({}, ...used.map(({ environment }) => environment ?? {})),
  };
}

function toEntries(path: string): string[] {
  return path
    .split(':')
    .filter((entry) => entry.startsWith('/'))
    .map((entry) => resolve(entry))
    .flatMap((entry) => (entry === '/snap/bin' ? snapPrograms() : [entry]))
    .filter((entry) => statOf(entry)?.isDirectory());
}

/** Programs in `/snap/bin` ask a system service to start them, so the directories of the real programs are used. */
function snapPrograms(): string[] {
  try {
    return readdirSync('/snap').map((name) => join('/snap', name, 'current/bin'));
  } catch {
    return [];
  }
}

export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function exists(path: string): boolean {
  return statOf(path) !== undefined;
}

/** Returns `undefined` if the path is missing or not accessible. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Removes toolchains that the owner of a workspace cannot reach, as is common if the operator is root. */
export function limitToReachable({ directories, path, environment }: Toolchains, owner: Owner | undefined): Toolchains {
  if (!owner) return { directories, path, environment };
  const hidden = directories.filter((directory) => !canReach(directory, owner));
  const isHidden = (path: string) => hidden.some((directory) => path === directory || path.startsWith(`${directory}/`));
  return {
    directories: directories.filter((directory) => !isHidden(directory)),
    path: path.filter((entry) => !isHidden(entry)),
    environment: Object.fromEntries(Object.entries(environment).filter(([, value]) => !isHidden(value))),
  };
}
