import { spawnSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { connectStdio, makeDirectory } from '../support/harness.ts';

/** A workspace with a server of its own. Its history outlives the server. */
export function openFixture(tree: Record<string, string | Buffer> = {}) {
  const folder = makeDirectory();
  const files = makeDirectory(tree);
  return {
    ...{ path: files.path, at: files.at, data: folder.path },
    connect: (...flags: string[]) =>
      connectStdio(['--workspace', files.path, ...flags], { env: { CROFT_DATA: folder.at('data') } }),
    /** Lists all files by path, with modes, links and contents. */
    listAll: (below = '') => listTree(files.at(below)),
    [Symbol.dispose]() {
      files[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

export type HistoryFixture = ReturnType<typeof openFixture>;

/** Lists a tree by path: kind, mode and content. Names are given byte by byte, one character each. */
export function listTree(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const pending = [''];
  for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop()) {
    const toPath = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, 'latin1')]);
    for (const entry of readdirSync(toPath(prefix), { encoding: 'buffer' })) {
      const name = prefix + entry.toString('latin1');
      found[name] = describeEntry(toPath(name));
      if (found[name].startsWith('directory')) pending.push(`${name}/`);
    }
  }
  return found;
}

function describeEntry(path: Buffer): string {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o777).toString(8);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path, 'latin1')}`;
  return stats.isDirectory() ? `directory ${mode}` : `file ${mode} ${readFileSync(path, 'latin1')}`;
}

export function git(cwd: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'init.defaultBranch=main'];
  const run = spawnSync('git', [...identity, ...args], { cwd, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr}`);
  return run.stdout;
}

/** Makes every program that git would run for a repository leave a mark in a file. */
export function bait(repository: string, mark: string): void {
  const script = join(repository, '.git/bait.sh');
  spawnSync('sh', ['-c', `printf '#!/bin/sh\\ntouch ${mark}\\ncat\\n' > ${script}`]);
  chmodSync(script, 0o755);
  const settings = {
    'core.fsmonitor': script,
    'diff.external': script,
    'filter.bait.clean': script,
    'filter.bait.smudge': script,
    'diff.bait.textconv': script,
    'core.hooksPath': join(repository, '.git'),
  };
  for (const [name, value] of Object.entries(settings)) git(repository, 'config', name, value);
}
