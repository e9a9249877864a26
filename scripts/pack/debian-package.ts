import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../packages/croft/src/lib/processes/find-program.ts';
import { type Manifest, root, runProgram, writeText } from './staged-package.ts';

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--prefer-offline', '--loglevel=error'];

/** As `bin/croft` of a clone does, with the Node of the package. */
const launcher = `#!/bin/sh
# Node has four threads for files. Four slow disks or large files would keep everybody waiting.
export UV_THREADPOOL_SIZE="\${UV_THREADPOOL_SIZE:-16}"
lib=/usr/lib/croft
set -- "$lib/bin/node" --max-semi-space-size=16 --v8-pool-size=1 --disable-warning=ExperimentalWarning \\
  "$lib/node_modules/croft/bin/start.mjs" "$@"
# The first process of a container has duties that Node does not know.
[ $$ -eq 1 ] && exec "$lib/node_modules/@croft/linux-${process.arch}/croft-init" --first "$@"
exec "$@"
`;

/** Makes a Debian package with the npm packages and Node. Returns nothing where `dpkg-deb` is not installed. */
export function makeDebianPackage(
  stage: string,
  manifest: Manifest,
  tarballs: readonly string[],
  target: string,
): string | undefined {
  const [dpkg, architecture] = [findProgram('dpkg-deb'), architectures[process.arch]];
  if (dpkg === undefined || architecture === undefined) return undefined;
  const tree = join(stage, 'debian');
  const library = join(tree, 'usr/lib/croft');
  installInto(library, tarballs);
  mkdirSync(join(library, 'bin'));
  copyFileSync(process.execPath, join(library, 'bin/node'));
  writeText(join(tree, 'usr/bin/croft'), launcher);
  chmodSync(join(tree, 'usr/bin/croft'), 0o755);
  writeText(join(tree, 'DEBIAN/control'), describeControl(manifest, architecture));
  mkdirSync(join(tree, 'usr/lib/systemd/system'), { recursive: true });
  cpSync(join(root, 'deploy/croft.service'), join(tree, 'usr/lib/systemd/system/croft.service'));
  const file = join(target, `croft_${manifest.version}_${architecture}.deb`);
  // Its own compression would take longer than everything else.
  runProgram([dpkg, '--root-owner-group', '-Zgzip', '--build', tree, file]);
  return file;
}

function installInto(library: string, tarballs: readonly string[]): void {
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, 'package.json'), '{ "private": true }\n');
  runProgram(['npm', 'install', ...flags, ...tarballs], library);
  for (const name of ['package.json', 'package-lock.json']) rmSync(join(library, name));
}

function describeControl({ version, description }: Manifest, architecture: string): string {
  const fields = {
    Package: 'croft',
    Version: version,
    Architecture: architecture,
    Maintainer: 'The Croft maintainers <maintainers@croft.invalid>',
    Depends: 'bubblewrap, git, libc-bin, libstdc++6, ripgrep',
    Section: 'devel',
    Priority: 'optional',
    Description: description,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return `${lines.join('\n')}\n`;
}
