import { mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import * as detectors from '../../detectors/index.ts';
import { createDiskFiles } from '../../disk/disk-files.ts';
import { openRoot } from '../../disk/paths/handles.ts';
import { createNearbyProjects } from './nearby-projects.ts';

/** A workspace on disk with old directories, and a clock that the test advances. */
function open(tree: Record<string, string>) {
  const root = makeDirectory(tree);
  const files = createDiskFiles({ handle: openRoot(root.path), names: [root.path] });
  const listed: string[] = [];
  let clock = 0;
  const along = createNearbyProjects({
    files: {
      ...files,
      list(path, options) {
        listed.push(path);
        return files.list(path, options);
      },
    },
    detectors: Object.values(detectors),
    now: () => clock,
  });
  return {
    place: root,
    along,
    age: (...paths: readonly string[]) => paths.forEach((path) => void utimesSync(root.at(path), 1000, 1000)),
    later() {
      clock += 2000;
    },
    find: async (path: string) =>
      (await along.around(path)).map(({ language, directory }) => `${language}:${directory}`),
    takeListed: () => listed.splice(0),
    [Symbol.dispose]: () => root[Symbol.dispose](),
  };
}

test('only the parent directories of a file are listed, however many others lie beside them', async () => {
  const many = Array.from({ length: 300 }, (_, index) => [`src/area-${index}/a.ts`, '']);
  using fixture = open({ 'package.json': '{}', ...Object.fromEntries(many) });
  expect(await fixture.find('src/area-7/a.ts')).toEqual(['node:']);
  expect(fixture.takeListed()).toEqual(['', 'src', 'src/area-7']);
});

test('an unchanged directory is not listed again, for the same or another file below it', async () => {
  using fixture = open({ 'package.json': '{}', 'src/a/x.ts': '', 'src/b/y.ts': '' });
  fixture.age('.', 'src', 'src/a', 'src/b');
  await fixture.find('src/a/x.ts');
  fixture.takeListed();
  await fixture.find('src/b/y.ts');
  expect(fixture.takeListed()).toEqual(['src/b']);
  for (let turn = 0; turn < 5; turn++) {
    fixture.later();
    fixture.along.fileChanged('src/a/x.ts');
    expect(await fixture.find('src/a/x.ts')).toEqual(['node:']);
  }
  expect(fixture.takeListed()).toEqual([]);
});

test('a project that another program changes is found after a second, and one changed by a tool at once', async () => {
  using fixture = open({ 'package.json': '{}', 'src/a/x.go': '' });
  fixture.age('.', 'src', 'src/a');
  expect(await fixture.find('src/a/x.go')).toEqual(['node:']);
  writeFileSync(fixture.place.at('src/a/go.mod'), 'module a\n');
  expect(await fixture.find('src/a/x.go')).toEqual(['node:']);
  fixture.later();
  expect(await fixture.find('src/a/x.go')).toEqual(['node:', 'go:src/a']);
  writeFileSync(fixture.place.at('Cargo.toml'), '[package]\nname = "a"\n');
  fixture.along.fileChanged('Cargo.toml');
  expect(await fixture.find('src/a/x.go')).toEqual(['node:', 'rust:', 'go:src/a']);
  writeFileSync(fixture.place.at('package.json'), '{"packageManager":"bun@1"}');
  fixture.later();
  expect((await fixture.along.around('src/a/x.go'))[0]?.packageManager).toBe('bun');
});

test('a directory that changed a moment ago is listed again, because a second change may have the same time', async () => {
  using fixture = open({ 'package.json': '{}', 'src/x.go': '' });
  const { atime, mtime } = statSync(fixture.place.at('src'));
  utimesSync(fixture.place.at('src'), atime, mtime);
  await fixture.find('src/x.go');
  writeFileSync(fixture.place.at('src/go.mod'), 'module a\n');
  utimesSync(fixture.place.at('src'), atime, mtime);
  fixture.later();
  expect(await fixture.find('src/x.go')).toEqual(['node:', 'go:src']);
});

test('dependencies, build output, hidden directories and links are not entered', async () => {
  using fixture = open({ 'package.json': '{}', 'node_modules/x/go.mod': '', '.hidden/go.mod': '', 'real/go.mod': '' });
  symlinkSync('real', fixture.place.at('link'));
  for (const path of ['node_modules/x/a.go', '.hidden/a.go', 'link/a.go', 'missing/a.go'])
    expect(await fixture.find(path), path).toEqual(['node:']);
  expect(await fixture.find('real/a.go')).toEqual(['node:', 'go:real']);
  mkdirSync(fixture.place.at('missing'));
  writeFileSync(fixture.place.at('missing/go.mod'), '');
  fixture.along.fileChanged('missing/go.mod');
  expect(await fixture.find('missing/a.go')).toEqual(['node:', 'go:missing']);
});
