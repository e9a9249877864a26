import { type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { canReach, type Owner } from '../lib/workspace-owner.ts';

export interface Toolchains {
  /** Directories to show, read-only, at their own paths. */
  readonly directories: readonly string[];
  /** Where programs are looked for, in the order of the person's own PATH. */
  readonly path: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

interface Keeper {
  /** Below a person's home. */
  readonly folder: string;
  /** What of it a program needs; credentials lie beside, and stay out. */
  readonly shows: readonly string[];
  readonly environment?: (home: string) => Record<string, string>;
}

/** Where people keep toolchains under their home. */
const keepers: readonly Keeper[] = [
  { folder: '.nvm', shows: ['.nvm/versions', '.nvm/alias'] },
  { folder: '.fnm', shows: ['.fnm'] },
  { folder: '.local/share/fnm', shows: ['.local/share/fnm'] },
  {
    folder: '.volta',
    shows: ['.volta/bin', '.volta/tools'],
    environment: (home) => ({ VOLTA_HOME: join(home, '.volta') }),
  },
  { folder: '.pyenv', shows: ['.pyenv'], environment: (home) => ({ PYENV_ROOT: join(home, '.pyenv') }) },
  { folder: '.local/share/uv', shows: ['.local/share/uv/python', '.local/share/uv/tools'] },
  {
    folder: '.cargo/bin',
    shows: ['.cargo/bin', '.rustup/toolchains', '.rustup/settings.toml', '.rustup/update-hashes'],
    environment: (home) => ({ RUSTUP_HOME: join(home, '.rustup') }),
  },
  { folder: 'go', shows: ['go/bin'] },
  { folder: '.bun', shows: ['.bun/bin'] },
  { folder: '.deno', shows: ['.deno/bin'] },
  { folder: '.sdkman', shows: ['.sdkman/candidates'] },
  { folder: '.asdf', shows: ['.asdf/installs', '.asdf/shims', '.asdf/bin', '.asdf/plugins'] },
  { folder: '.local/share/mise', shows: ['.local/share/mise/installs', '.local/share/mise/shims'] },
  { folder: '.local/bin', shows: ['.local/bin'] },
];

const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Finds from PATH what a person has installed for themselves. Anything else of their home is not shown. */
export function findToolchains(path: string, operatorHome: string): Toolchains {
  const home = resolve(operatorHome);
  const entries = path
    .split(':')
    .filter((entry) => entry.startsWith('/'))
    .map((entry) => resolve(entry))
    .filter((entry) => look(entry)?.isDirectory());
  const own = entries.filter((entry) => isBelow(entry, home));
  const used = keepers.filter(({ folder }) => own.some((entry) => isBelow(entry, join(home, folder))));
  const elsewhere = entries.filter((entry) => entry.startsWith('/opt/'));
  const directories = [
    ...used.flatMap(({ shows }) => shows.map((folder) => join(home, folder))),
    ...elsewhere.map((entry) => (entry.endsWith('/bin') && dirname(entry) !== '/opt' ? dirname(entry) : entry)),
  ];
  const shown = [...new Set(directories)].filter(exists);
  const isShown = (entry: string) => shown.some((directory) => isBelow(entry, directory));
  return {
    directories: shown,
    path: [...new Set([...entries.filter(isShown), ...systemPath])],
    environment: Object.assign({}, ...used.map(({ environment }) => environment?.(home) ?? {})),
  };
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

function exists(path: string): boolean {
  return look(path) !== undefined;
}

/** `undefined` for what is not there, or not ours to see. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The toolchains of an operator who is root are often out of reach for the owner of a workspace. */
export function withinReach({ directories, path, environment }: Toolchains, owner: Owner | undefined): Toolchains {
  if (!owner) return { directories, path, environment };
  const hidden = directories.filter((directory) => !canReach(directory, owner));
  const isHidden = (place: string) =>
    hidden.some((directory) => place === directory || place.startsWith(`${directory}/`));
  return {
    directories: directories.filter((directory) => !isHidden(directory)),
    path: path.filter((place) => !isHidden(place)),
    environment: Object.fromEntries(Object.entries(environment).filter(([, place]) => !isHidden(place))),
  };
}
