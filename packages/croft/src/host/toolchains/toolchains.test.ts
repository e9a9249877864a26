import { mkdirSync, symlinkSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { findToolchains } from './toolchains.ts';

const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Files that must never be visible in a sandbox, wherever they are. */
const credentials = [
  '.cargo/credentials.toml',
  '.cargo/config.toml',
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.npmrc',
  '.netrc',
  '.config/gh/hosts.yml',
  '.bun/install/cache/token',
  '.nvm/.npmrc',
  '.volta/hooks.json',
  '.rustup/secret',
  '.local/share/uv/credentials/tokens.json',
  '.local/share/keyrings/login.keyring',
  'go/pkg/mod/cache/private.txt',
  '.deno/token',
  'private/bin/tool',
];

const programs = [
  '.nvm/versions/node/v24.1.0/bin/node',
  '.nvm/alias/default',
  '.pyenv/shims/python',
  '.pyenv/versions/3.13.0/bin/python',
  '.cargo/bin/cargo',
  '.rustup/toolchains/stable/bin/rustc',
  '.rustup/settings.toml',
  'go/bin/gopls',
  '.bun/bin/bun',
  '.deno/bin/deno',
  '.volta/bin/node',
  '.local/bin/mine',
  '.local/share/uv/python/3.13/bin/python',
];

function makeHome() {
  return makeDirectory(Object.fromEntries([...programs, ...credentials].map((file) => [file, 'x'])));
}

const isShown = (file: string, directories: readonly string[]) =>
  directories.some((directory) => file === directory || file.startsWith(`${directory}/`));

test('shows the directories that toolchains on PATH need, and no credentials beside them', () => {
  using home = makeHome();
  const own = ['.nvm/versions/node/v24.1.0/bin', '.pyenv/shims', '.cargo/bin', 'go/bin', '.bun/bin'].map(home.at);
  const found = findToolchains([...own, '/usr/bin', '/bin'].join(':'), home.path);

  expect([...found.directories].sort()).toEqual(
    [
      '.nvm/versions',
      '.nvm/alias',
      '.pyenv',
      '.cargo/bin',
      '.rustup/toolchains',
      '.rustup/settings.toml',
      'go/bin',
      '.bun/bin',
    ]
      .map(home.at)
      .sort(),
  );
  const rest = systemPath.filter((entry) => !['/usr/bin', '/bin'].includes(entry));
  expect(found.path).toEqual([...own, '/usr/bin', '/bin', ...rest]);
  expect(found.environment).toEqual({ PYENV_ROOT: home.at('.pyenv'), RUSTUP_HOME: home.at('.rustup') });
  expect(credentials.map(home.at).filter((file) => isShown(file, found.directories))).toEqual([]);
});

test('with every directory of a home on PATH, credentials stay hidden', () => {
  using home = makeHome();
  const everything = [...programs, ...credentials].map((file) => home.at(file).replace(/\/[^/]*$/, ''));
  const path = [home.path, home.at('.cargo'), home.at('.bun'), home.at('.deno'), ...everything].join(':');
  const { directories, path: inside } = findToolchains(path, home.path);
  expect(credentials.map(home.at).filter((file) => isShown(file, directories))).toEqual([]);
  expect(inside.filter((entry) => !systemPath.includes(entry) && !isShown(entry, directories))).toEqual([]);
});

test('visible directories stay on PATH in their order', () => {
  using home = makeDirectory({
    '.dotnet/dotnet': '',
    '.dotnet/sdk/x': '',
    '.dotnet/corefx/cryptography/x509stores/my/key.pfx': 'key',
    '.rbenv/shims/ruby': '',
    '.linuxbrew/bin/brew': '',
    '.linuxbrew/var/postgres/data': 'rows',
    'shared/tools/bin/x': '',
    'private/bin/x': '',
  });
  mkdirSync(home.at('links'));
  symlinkSync('/usr/lib', home.at('links/profile'));
  const [dotnet, rbenv, brew] = ['.dotnet', '.rbenv/shims', '.linuxbrew/bin'].map(home.at) as [string, string, string];
  const path = [
    ...['/usr/bin', dotnet, '/usr/lib', home.at('shared/tools/bin'), rbenv, home.at('private/bin')],
    ...['/usr/local/bin', brew, home.at('links/profile')],
  ];
  const found = findToolchains(path.join(':'), home.path, [home.at('shared')]);
  const rest = systemPath.filter((entry) => !['/usr/bin', '/usr/local/bin'].includes(entry));
  const seen = ['/usr/bin', dotnet, '/usr/lib', home.at('shared/tools/bin'), rbenv, '/usr/local/bin', brew];
  expect(found.path).toEqual([...seen, ...rest]);
  expect(found.environment).toEqual({ DOTNET_ROOT: dotnet, RBENV_ROOT: home.at('.rbenv') });
  const secrets = [
    '.dotnet/corefx/cryptography/x509stores/my/key.pfx',
    '.linuxbrew/var/postgres/data',
    'private/bin/x',
  ];
  expect(secrets.map(home.at).filter((file) => isShown(file, found.directories))).toEqual([]);
});

test('a toolchain that is not on PATH is not shown', () => {
  using home = makeHome();
  const onlyUsr = ['/usr/bin', ...systemPath.filter((entry) => entry !== '/usr/bin')];
  expect(findToolchains('/usr/bin', home.path)).toEqual({ directories: [], path: onlyUsr, environment: {} });
  expect(findToolchains('', home.path)).toEqual({ directories: [], path: systemPath, environment: {} });
});

test('relative, empty and missing entries, and files, are left out', () => {
  using home = makeHome();
  const path = [
    '.',
    '',
    'bin',
    relative(process.cwd(), home.at('go/bin')),
    home.at('.cargo/bin/cargo'),
    home.at('.volta/nothing'),
    home.at('.sdkman/candidates/java/current/bin'),
    '/nowhere/bin',
    '/opt/nowhere/bin',
    '~/.bun/bin',
  ].join(':');
  expect(findToolchains(path, home.path)).toEqual({ directories: [], path: systemPath, environment: {} });
});

test('a missing part of a toolchain is not shown', () => {
  using home = makeDirectory({ '.cargo/bin/cargo': '', '.cargo/credentials.toml': 'token' });
  const { directories } = findToolchains(home.at('.cargo/bin'), home.path);
  expect(directories).toEqual([home.at('.cargo/bin')]);
});

test('a directory whose name only begins the same is not matched', () => {
  using home = makeDirectory({ 'go-secrets/bin/x': '', '.bunny/bin/x': '', '.cargo/binaries/x': '' });
  const path = ['go-secrets/bin', '.bunny/bin', '.cargo/binaries'].map(home.at).join(':');
  expect(findToolchains(path, home.path).directories).toEqual([]);
  expect(findToolchains(`${home.path}-other/go/bin`, home.path).directories).toEqual([]);
});

test('a toolchain that is on PATH twice is shown once, in the order of PATH', () => {
  using home = makeHome();
  const [bun, go] = [home.at('.bun/bin'), home.at('go/bin')];
  const found = findToolchains([bun, go, bun, go].join(':'), home.path);
  expect(found.path).toEqual([bun, go, ...systemPath]);
  expect(found.directories).toHaveLength(2);
});

test('a home with a slash at its end is the same home', () => {
  using home = makeHome();
  const path = home.at('go/bin');
  expect(findToolchains(path, `${home.path}/`)).toEqual(findToolchains(path, home.path));
});

test('an unreadable entry is left out', () => {
  using home = makeHome();
  mkdirSync(home.at('loops'));
  symlinkSync('self', home.at('loops/self'));
  const found = findToolchains([home.at('loops/self'), home.at('go/bin')].join(':'), home.path);
  expect(found.path).toEqual([home.at('go/bin'), ...systemPath]);
});

test('dots in a PATH entry do not lead out of a shown directory', () => {
  using home = makeHome();
  // Written as one string, because `join` would remove the dots.
  const path = [`/opt/..${home.path}/.ssh`, `${home.path}/.cargo/bin/../../.aws`].join(':');
  const directories = findToolchains(path, home.path).directories.map((directory) => resolve(directory));
  expect(credentials.map(home.at).filter((file) => isShown(file, directories))).toEqual([]);
});
