import { join } from 'node:path';

interface ToolchainLocation {
  /** The toolchain is in use if an entry of PATH is this directory or lies below it. */
  readonly folder: string;
  /** Directories that programs need. Credentials lie beside them and are not shown. */
  readonly shows: readonly string[];
  /** Whether the folder itself holds programs although only parts of it are shown. */
  readonly hasPrograms?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

interface HomeLocation {
  /** Relative to the operator's home, as are the paths in `shows`. */
  readonly folder: string;
  /** Default: the folder itself. */
  readonly shows?: readonly string[];
  readonly hasPrograms?: true;
  /** A variable to set, and the folder it names. */
  readonly variable?: readonly [name: string, folder: string];
}

const belowHome: readonly HomeLocation[] = [
  { folder: '.nvm', shows: ['.nvm/versions', '.nvm/alias'] },
  { folder: '.fnm' },
  { folder: '.local/share/fnm' },
  { folder: '.volta', shows: ['.volta/bin', '.volta/tools'], variable: ['VOLTA_HOME', '.volta'] },
  { folder: '.nodenv', variable: ['NODENV_ROOT', '.nodenv'] },
  { folder: '.npm-global', shows: ['.npm-global/bin', '.npm-global/lib'] },
  { folder: '.local/share/pnpm' },
  { folder: '.yarn/bin' },
  { folder: '.pyenv', variable: ['PYENV_ROOT', '.pyenv'] },
  { folder: '.local/share/uv', shows: ['.local/share/uv/python', '.local/share/uv/tools'] },
  {
    folder: '.cargo/bin',
    shows: ['.cargo/bin', '.rustup/toolchains', '.rustup/settings.toml', '.rustup/update-hashes'],
    variable: ['RUSTUP_HOME', '.rustup'],
  },
  { folder: 'go', shows: ['go/bin'] },
  { folder: '.goenv', variable: ['GOENV_ROOT', '.goenv'] },
  { folder: '.bun', shows: ['.bun/bin'] },
  { folder: '.deno', shows: ['.deno/bin'] },
  { folder: '.sdkman', shows: ['.sdkman/candidates'] },
  { folder: '.jenv', variable: ['JENV_ROOT', '.jenv'] },
  { folder: '.rbenv', variable: ['RBENV_ROOT', '.rbenv'] },
  { folder: '.rvm', shows: ['.rvm/bin', '.rvm/gems', '.rvm/rubies', '.rvm/scripts'] },
  { folder: '.gem/ruby' },
  // The keys of .NET's development certificates lie beside these directories.
  {
    folder: '.dotnet',
    shows: ['dotnet', 'host', 'packs', 'sdk', 'sdk-manifests', 'shared', 'templates', 'tools'].map(
      (name) => `.dotnet/${name}`,
    ),
    hasPrograms: true,
    variable: ['DOTNET_ROOT', '.dotnet'],
  },
  { folder: '.ghcup', shows: ['.ghcup/bin', '.ghcup/ghc'] },
  { folder: '.asdf', shows: ['.asdf/installs', '.asdf/shims', '.asdf/bin', '.asdf/plugins'] },
  { folder: '.local/share/mise', shows: ['.local/share/mise/installs', '.local/share/mise/shims'] },
  { folder: '.local/bin' },
];

/** Leaves out `var`, the data of Homebrew's services, and most of `etc`, their settings. */
const ofHomebrew = [
  ...['bin', 'sbin', 'lib', 'libexec', 'include', 'share', 'opt', 'Cellar', 'Homebrew/Library/Homebrew/shims'],
  ...['etc/ca-certificates', 'etc/openssl@3'],
];

/** Lists the usual directories of toolchains, below the operator's home and beside the system. */
export function toolchainLocations(home: string): ToolchainLocation[] {
  const own = belowHome.map(({ folder, shows = [folder], hasPrograms = false, variable }) => ({
    folder: join(home, folder),
    hasPrograms,
    shows: shows.map((name) => join(home, name)),
    ...(variable && { environment: { [variable[0]]: join(home, variable[1]) } }),
  }));
  const homebrew = ['/home/linuxbrew/.linuxbrew', join(home, '.linuxbrew')].map((folder) => ({
    folder,
    shows: ofHomebrew.map((name) => join(folder, name)),
  }));
  return [...own, ...homebrew, { folder: '/nix', shows: ['/nix/store'] }, { folder: '/snap', shows: ['/snap'] }];
}
