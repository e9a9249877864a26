import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { reportTemporaryBase } from './temporary-base.ts';
import { findCacheDirectory, makeTemporaryDirectory, removeTemporaryDirectory } from './temporary-directory.ts';

const ourId = process.geteuid?.() ?? 0;
const name = `croft-${ourId}`;
const isRoot = ourId === 0;
const modeOf = (path: string) => statSync(path).mode & 0o7777;

/** Makes a directory with the mode of /tmp, which all users of a machine share. */
function makeShared() {
  const shared = makeDirectory({ 'victim/file': 'kept' });
  chmodSync(shared.path, 0o1777);
  return shared;
}

test('directories are made in one of this user, which no other user can list or change', () => {
  using shared = makeShared();
  const made = makeTemporaryDirectory('socket', shared.path);
  expect(dirname(made)).toBe(shared.at(name));
  expect([modeOf(shared.at(name)), modeOf(made)]).toEqual([isRoot ? 0o711 : 0o700, 0o700]);
  expect(makeTemporaryDirectory('socket', shared.path)).not.toBe(made);
  const cache = findCacheDirectory('compiled', shared.path) as string;
  expect([dirname(cache), modeOf(cache)]).toEqual([shared.at(name), 0o700]);
  expect(findCacheDirectory('compiled', shared.path)).toBe(cache);
  expect(reportTemporaryBase(shared.path)).toEqual({ path: shared.at(name) });
  writeFileSync(join(made, 'file'), '');
  removeTemporaryDirectory(made);
  expect(existsSync(made)).toBe(false);
  expect(() => removeTemporaryDirectory(made)).not.toThrow();
});

test('a server that makes and removes thousands of directories keeps none in memory', () => {
  using shared = makeShared();
  removeTemporaryDirectory(makeTemporaryDirectory('socket', shared.path));
  const before = process.listenerCount('exit');
  for (let round = 0; round < 20; round++) removeTemporaryDirectory(makeTemporaryDirectory('socket', shared.path));
  expect(process.listenerCount('exit')).toBe(before);
  expect(readdirSync(shared.at(name))).toEqual([]);
});

const plants: [string, (path: string, victim: string) => void, RegExp][] = [
  ['a link', (path, victim) => symlinkSync(victim, path), /not a directory/],
  ['a file', (path) => writeFileSync(path, ''), /not a directory/],
  ['a directory that others can write to', (path) => mkdirAs(path, 0o777), /others can list/],
  ['a directory that others can list', (path) => mkdirAs(path, 0o750), /others can list/],
];
if (isRoot) plants.push(['a directory of another user', (path) => chownSync(mkdirAs(path), 60_419, 60_419), /60419/]);

test.each(plants)('%s in its place is refused, and another directory is used', (_, plant, problem) => {
  using shared = makeShared();
  plant(shared.at(name), shared.at('victim'));
  const [made, second] = [makeTemporaryDirectory('socket', shared.path), makeTemporaryDirectory('socket', shared.path)];
  const base = dirname(made);
  expect(basename(base)).toMatch(new RegExp(`^${name}-${process.pid}-`));
  expect(dirname(second)).toBe(base);
  expect(statSync(base)).toMatchObject({ uid: ourId });
  expect([modeOf(base), modeOf(made)]).toEqual([isRoot ? 0o711 : 0o700, 0o700]);
  expect(findCacheDirectory('compiled', shared.path)).toBeUndefined();
  expect(readdirSync(shared.at('victim'))).toEqual(['file']);
  expect(reportTemporaryBase(shared.path)).toMatchObject({ problem: expect.stringMatching(problem), hasOther: true });
});

test('a cache that is a link is not used', () => {
  using shared = makeShared();
  makeTemporaryDirectory('socket', shared.path);
  symlinkSync(shared.at('victim'), shared.at(`${name}/compiled`));
  expect(findCacheDirectory('compiled', shared.path)).toBeUndefined();
});

test('no directory is made where other users can rename it', () => {
  using shared = makeShared();
  chmodSync(shared.path, 0o777);
  expect(() => makeTemporaryDirectory('socket', shared.path)).toThrow(/is not safe: everybody can rename.*set TMPDIR/);
  expect(findCacheDirectory('compiled', shared.path)).toBeUndefined();
  expect(reportTemporaryBase(shared.path)).toMatchObject({
    problem: expect.stringContaining('not safe'),
    hasOther: false,
  });
  expect(readdirSync(shared.path)).toEqual(['victim']);
});

test.runIf(isRoot)('no directory is made in a directory of another user', () => {
  using shared = makeShared();
  chownSync(shared.path, 60_419, 60_419);
  expect(() => makeTemporaryDirectory('socket', shared.path)).toThrow(/belongs to uid 60419/);
});

test('directories of dead processes are removed, but nothing behind a link and nothing of another user', () => {
  using shared = makeShared();
  const { pid } = spawnSync('true');
  const namespace = statSync('/proc/self/ns/pid').ino;
  const left = (rest: string) => shared.at(`${name}/old-${pid}-${namespace}-${rest}`);
  const alive = shared.at(`${name}/old-${process.pid}-${namespace}-x`);
  const elsewhere = shared.at(`${name}/old-${pid}-1-x`);
  mkdirAs(shared.at(name), 0o700);
  for (const path of [left('a'), alive, elsewhere]) mkdirAs(join(path), 0o755);
  symlinkSync(shared.at('victim'), join(left('a'), 'link'));
  symlinkSync(shared.at('victim'), left('link'));
  if (isRoot) chownSync(mkdirAs(left('foreign')), 60_419, 60_419);
  const made = makeTemporaryDirectory('old', shared.path);
  const names = [made, alive, elsewhere, left('link'), ...(isRoot ? [left('foreign')] : [])];
  expect(readdirSync(shared.at(name)).sort()).toEqual(names.map((path) => basename(path)).sort());
  expect(readdirSync(shared.at('victim'))).toEqual(['file']);
});

test('directories of a process are removed when it ends, links included', () => {
  using shared = makeShared();
  const script = `
    const { makeTemporaryDirectory } = await import(${JSON.stringify(join(import.meta.dirname, 'temporary-directory.ts'))});
    const { mkdirSync, symlinkSync } = await import('node:fs');
    const made = makeTemporaryDirectory('x', ${JSON.stringify(shared.path)});
    mkdirSync(made + '/deep');
    symlinkSync(${JSON.stringify(shared.at('victim'))}, made + '/deep/link');
    process.stdout.write(made);`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(dirname(stdout)).toBe(shared.at(name));
  expect(readdirSync(shared.at(name))).toEqual([]);
  expect(readdirSync(shared.at('victim'))).toEqual(['file']);
});

function mkdirAs(path: string, mode = 0o700): string {
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}
