import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import type { Projects } from './project.ts';

/** Real projects are fetched from npm and Debian in each run, so only `npm run test:projects` does it. */
export const isAsked = process.env.CROFT_REAL_PROJECTS !== undefined;

const run = (directory: string, program: string, args: readonly string[], env = {}) =>
  execFileSync(program, args, {
    ...{ cwd: directory, env: { ...process.env, ...env } },
    ...{ stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 1024 * 1024 },
  });

const npm = (directory: string, ...args: readonly string[]) =>
  run(directory, 'npm', [...args, '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']);

/** Fills the workspace with a published package, and installs its dependencies and `needs`. */
export function unpackNpm(
  projectTree: Projects,
  name: string,
  { version, needs }: { version: string; needs: readonly string[] },
) {
  using root = makeDirectory();
  npm(root.path, 'pack', `${name}@${version}`);
  const [archive = ''] = readdirSync(root.path);
  run(root.path, 'tar', ['-xzf', archive]);
  fillFrom(projectTree, root.at('package'));
  // Every repository has such a file; packages do not publish it.
  projectTree.put('.gitignore', 'node_modules\n');
  installNpm(projectTree, needs);
}

function fillFrom(projectTree: Projects, directory: string): void {
  projectTree.fill({});
  // Keeps times, because make rebuilds generated files that are older than their source.
  cpSync(directory, projectTree.path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** Installs beside the package. The package's own list of development dependencies is not used. */
export function installNpm(projectTree: Projects, needs: readonly string[]): void {
  const manifest = JSON.parse(projectTree.read('package.json'));
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => `${name}@${range}`);
  const all = [...needs, ...dependencies];
  if (all.length === 0) return;
  using root = makeDirectory({ 'package.json': '{}' });
  npm(root.path, 'install', ...all);
  rmSync(projectTree.at('node_modules'), { recursive: true, force: true });
  cpSync(root.at('node_modules'), projectTree.at('node_modules'), { recursive: true, verbatimSymlinks: true });
}

/** Fills the workspace with a Debian source package, with Debian's patches applied. */
export function unpackDebian(projectTree: Projects, name: string): void {
  using root = makeDirectory();
  run(root.path, 'apt-get', ['source', '-qq', name], { APT_CONFIG: readyApt() });
  const [directory] = readdirSync(root.path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  if (!directory) throw new Error(`apt-get source ${name} brought no directory`);
  fillFrom(projectTree, root.at(directory.name));
}

/** Fills the workspace with a crate, which Debian packages as source. */
export function unpackCrate(projectTree: Projects, name: string): void {
  using root = makeDirectory();
  run(root.path, 'apt-get', ['download', `librust-${name}-dev`]);
  const [archive = ''] = readdirSync(root.path);
  run(root.path, 'dpkg-deb', ['-x', archive, 'files']);
  const registry = root.at('files/usr/share/cargo/registry');
  const [crate = ''] = readdirSync(registry);
  fillFrom(projectTree, join(registry, crate));
}

let apt: string | undefined;
afterAll(() => {
  if (apt !== undefined) rmSync(dirname(apt), { recursive: true, force: true });
});

/**
 * The machine's own Debian sources with `deb-src` in place of `deb`, in a directory of their own: nothing of the machine
 * changes, and it takes no root. Security updates are left out, because a mirror need not have their sources.
 */
function readyApt(): string {
  if (apt !== undefined) return apt;
  const root = join(tmpdir(), `croft-test-apt-sources-${process.pid}`);
  for (const name of ['lists/partial', 'cache/archives/partial', 'sources'])
    mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'sources/debian.sources'), sourcesOfMachine());
  const settings = { 'Dir::Etc::SourceList': '/dev/null', 'Dir::Etc::SourceParts': `${root}/sources` };
  const all = { ...settings, 'Dir::State::Lists': `${root}/lists`, 'Dir::Cache': `${root}/cache` };
  writeFileSync(
    join(root, 'conf'),
    Object.entries(all)
      .map(([key, value]) => `${key} "${value}";\n`)
      .join(''),
  );
  apt = join(root, 'conf');
  run(root, 'apt-get', ['update', '-qq'], { APT_CONFIG: apt });
  return apt;
}

function sourcesOfMachine(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = readdirSync(folder).filter((name) => name.endsWith('.sources'));
  const entries = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split(/\n\s*\n/));
  const ofDebian = entries.filter((entry) => entry.includes('debian-archive-keyring') && !entry.includes('security'));
  return ofDebian.map((entry) => entry.replace(/^Types: .*$/m, 'Types: deb-src')).join('\n\n');
}
