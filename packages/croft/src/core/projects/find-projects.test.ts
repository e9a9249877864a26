import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { createMemoryFiles, detect } from '../../../test/support/memory-files.ts';
import * as detectors from '../../detectors/index.ts';
import { createDiskFiles } from '../../disk/disk-files.ts';
import { openRoot } from '../../disk/paths/handles.ts';
import type { DirectoryEntry, Files } from '../files/files.ts';
import { createProjectFinder } from './find-projects.ts';
import { nearestProjects, type ProjectChoice, pickProjects, toProjectPath, toWorkspacePath } from './pick-projects.ts';
import type { Profile } from './profile.ts';

const known = Object.values(detectors);
const show = (profiles: readonly Profile[]) => profiles.map(({ language, directory }) => `${language}:${directory}`);

function watch(files: Files) {
  const changes: (readonly Profile[])[] = [];
  return { changes, projects: createProjectFinder({ files, detectors: known, onChange: (now) => changes.push(now) }) };
}

describe('projects are found', () => {
  test('in a monorepo, the root first, and not in dependencies or build output', async () => {
    const tree = {
      'services/api/go.mod': '',
      'package.json': '{}',
      'apps/web/package.json': '{}',
      'libs/py/pyproject.toml': '',
      'node_modules/a/package.json': '{}',
      'services/api/vendor/b/go.mod': '',
      'services/api/testdata/c/go.mod': '',
      'libs/py/.venv/lib/d/pyproject.toml': '',
      'target/e/Cargo.toml': '',
      '.hidden/package.json': '{}',
    };
    expect(show(await detect(tree))).toEqual(['node:', 'node:apps/web', 'python:libs/py', 'go:services/api']);
  });

  test('down to a limited depth', async () => {
    expect(show(await detect({ 'a/b/c/d/go.mod': '', 'a/b/c/d/e/go.mod': '' }))).toEqual(['go:a/b/c/d']);
  });

  test('also beside a directory with very many entries', async () => {
    const many = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`data/d${index}/x`, '']));
    expect(show(await detect({ ...many, 'services/api/go.mod': '' }))).toEqual(['go:services/api']);
  });

  test('up to a limited number', async () => {
    const many = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`p${index}/go.mod`, '']));
    const found = await detect(many);
    expect(found.length).toBe(200);
  });

  test('by a Makefile beside or above them', async () => {
    const [go, node] = await detect({
      Makefile: 'build:\n',
      'a/go.mod': '',
      'b/package.json': '{"scripts":{"build":"x"}}',
    });
    expect(go?.scripts).toEqual({ build: ['make', '-C', '..', 'build'] });
    expect(node?.scripts).toEqual({ build: ['npm', 'run', 'build'] });
    const [inner] = await detect({ 'a/Makefile': 'all: x\n', Makefile: 'all:\ntop:\n', 'a/go.mod': '' });
    expect(inner?.scripts).toEqual({ all: ['make', 'all'], top: ['make', '-C', '..', 'top'] });
  });
});

describe('a hostile tree is searched within limits', () => {
  const entry = (name: string, kind: DirectoryEntry['kind']): DirectoryEntry => ({ name, kind, size: 1 });
  const endless = (entries: (path: string, limit: number) => DirectoryEntry[]) => {
    const { files } = createMemoryFiles({});
    const seen = { lists: 0, entries: 0, deepest: 0 };
    const list: Files['list'] = async (path, { limit }) => {
      const listed = entries(path, limit);
      seen.lists++;
      seen.entries += listed.length;
      seen.deepest = Math.max(seen.deepest, path === '' ? 0 : path.split('/').length);
      return { path, entries: listed, cut: true };
    };
    return { files: { ...files, list }, seen };
  };

  test('a million directories', async () => {
    const { files, seen } = endless((_, limit) =>
      Array.from({ length: limit }, (_, index) => entry(`d${index}`, 'directory')),
    );
    expect(await watch(files).projects()).toEqual([]);
    expect(seen.entries).toBeLessThan(100_000);
    expect(seen.lists).toBeLessThanOrEqual(500);
  });

  test('endless nesting with a few directories in each', async () => {
    const { files, seen } = endless(() =>
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => entry(name, 'directory')),
    );
    await watch(files).projects();
    expect(seen.lists).toBeLessThanOrEqual(500);
    expect(seen.deepest).toBeLessThanOrEqual(4);
  });

  test('unreadable directories are left out', async () => {
    const { files } = createMemoryFiles({});
    let lists = 0;
    const list: Files['list'] = async (path, { limit }) => {
      lists++;
      if (path !== '') throw new AppError('E_SANDBOX_VIOLATION', 'no');
      const entries = Array.from({ length: Math.min(limit, 5000) }, (_, index) => entry(`d${index}`, 'directory'));
      return { path, entries, cut: true };
    };
    expect(await watch({ ...files, list }).projects()).toEqual([]);
    expect(lists).toBeLessThanOrEqual(500);
  });

  test('links in circles and links out are not followed', async () => {
    using outside = makeDirectory({ 'go.mod': '', 'pyproject.toml': '[tool.ruff]\n' });
    using folder = makeDirectory({ 'a/package.json': '{}' });
    symlinkSync(outside.path, folder.at('out'));
    symlinkSync(folder.path, folder.at('a/round'));
    symlinkSync(outside.at('pyproject.toml'), folder.at('pyproject.toml'));
    symlinkSync('Cargo.toml', folder.at('Cargo.toml'));
    const [python, rust, node, ...others] = await watch(onDisk(folder.path)).projects();
    expect(show([python!, node!, rust!].filter(Boolean))).toEqual(['python:', 'node:a', 'rust:']);
    expect(python?.lint).toBeUndefined();
    expect(others).toEqual([]);
  });

  test('entries that are no files are skipped', async () => {
    using folder = makeDirectory({ 'package.json/x': '', 'Cargo.toml': Buffer.alloc(2 * 1024 * 1024, 'a') });
    expect(show(await watch(onDisk(folder.path)).projects())).toEqual(['rust:']);
  });
});

describe('found projects', () => {
  test('are cached while nothing changes', async () => {
    const { files, counts } = createMemoryFiles({
      'package.json': '{"scripts":{"test":"vitest"}}',
      'node_modules/.bin/vitest': '',
      'api/go.mod': '',
      'py/pyproject.toml': '[tool.ruff]',
      'croft.toml': '[commands]\ninstall = ["make"]',
      Makefile: 'x:\n',
    });
    const { projects, changes } = watch(files);
    const first = await projects();
    const { read } = counts;
    expect(read).toBeGreaterThan(2);
    expect(await projects()).toBe(first);
    expect(counts.read).toBe(read);
    expect(changes.length).toBe(1);
  });

  test.each([
    ['an edited setting', { 'package.json': '{"scripts":{"test":"jest"}}' }],
    ['a new setting', { 'biome.json': '' }],
    ['a tool that came', { 'node_modules/.bin/vitest': '' }],
    ['a project that came', { 'a/b/go.mod': '' }],
    ['an override', { 'croft.toml': '[commands]\ntest = ["make", "check"]' }],
    ['an override in its directory', { '.croft/config.toml': '[commands]\ntest = ["make", "check"]' }],
  ])('are found anew after %s, and after the change back', async (_, change: Record<string, string>) => {
    const { files, tree } = createMemoryFiles({ 'package.json': '{"scripts":{"test":"vitest run"}}' });
    const { projects, changes } = watch(files);
    const before = await projects();
    const old = { ...tree };
    Object.assign(tree, change);
    const after = await projects();
    expect(after).not.toEqual(before);
    expect(changes).toEqual([before, after]);
    for (const name of Object.keys(tree)) delete tree[name];
    Object.assign(tree, old);
    expect(await projects()).toEqual(before);
  });

  test('are the same on a disk and in memory', async () => {
    using folder = makeDirectory({ 'package.json': '{}' });
    const { projects } = watch(onDisk(folder.path));
    expect((await projects())[0]?.packageManager).toBe('npm');
    writeFileSync(folder.at('package.json'), '{"packageManager":"bun@1"}');
    expect((await projects())[0]?.packageManager).toBe('bun');
    writeFileSync(folder.at('package.json'), '{"packageManager":"npm@1"}');
    utimesSync(folder.at('package.json'), 1, 1);
    expect((await projects())[0]?.packageManager).toBe('npm');
    mkdirSync(folder.at('sub'));
    writeFileSync(folder.at('sub/go.mod'), '');
    expect(show(await projects())).toEqual(['node:', 'go:sub']);
    rmSync(folder.at('package.json'));
    expect(show(await projects())).toEqual(['go:sub']);
  });
});

describe('the projects chosen for a call', () => {
  const tree = {
    'package.json': '{"scripts":{"test":"vitest"}}',
    'packages/a/package.json': '{}',
    'go.mod': '',
    'tools/gen/go.mod': '',
    'ml/pyproject.toml': '',
  };
  const pick = async (choice: Partial<ProjectChoice>, of: Record<string, string> = tree) =>
    show(pickProjects({ profiles: await detect(of), detectors: known, ...choice }));

  test.each([
    [{ language: 'node' }, ['node:']],
    [{ language: ' TypeScript ' }, ['node:']],
    [{ language: 'go' }, ['go:', 'go:tools/gen']],
    [{ language: 'ALL' }, ['go:', 'node:', 'python:ml', 'go:tools/gen']],
    [{ path: 'ml' }, ['python:ml']],
    [{ path: './ml/' }, ['python:ml']],
    [{ path: 'ml/x/y.txt' }, ['python:ml']],
    [{ path: 'packages/a/x.ts' }, ['node:packages/a']],
    [{ path: 'packages/a/x.go' }, ['go:']],
    [{ path: 'packages/a/x.ts', needs: 'test' }, ['node:']],
    [{ path: 'tools/gen/main.go' }, ['go:tools/gen']],
    [{ path: 'tools/generous/main.go' }, ['go:']],
    [{ path: 'x.ts' }, ['node:']],
    [{ path: '.', language: 'python' }, ['python:ml']],
    [{ path: 'packages/b/../a/x.ts' }, ['node:packages/a']],
  ] as const)('with %j', async (choice, expected) => {
    expect(await pick(choice)).toEqual(expected);
  });

  test('are reported as missing in stable words', async () => {
    const message = (choice: Partial<ProjectChoice>, of?: Record<string, string>) =>
      pick(choice, of).then(
        (found) => `found ${found}`,
        (thrown) => `${thrown.code} ${thrown.message}`,
      );
    expect(await message({}, {})).toBe('E_NO_PROJECT no supported project detected in workspace root');
    expect(await message({}, { 'go.mod': '', 'package.json': '' })).toBe(
      'E_LANGUAGE_REQUIRED polyglot workspace: 2 project types detected (go, node) \u2014 pass `language` to pick one',
    );
    expect(await message({ language: 'Rust ' }, { 'package.json': '', 'go.mod': '' })).toBe(
      'E_UNKNOWN_LANGUAGE language "rust" not detected in workspace; detected: go, node',
    );
    expect(await message({ path: 'README.md' })).toMatch(/^E_LANGUAGE_REQUIRED polyglot workspace: 2 .*\(go, node\)/);
  });

  test('are those that have the command, if some have it', async () => {
    const shell = { 'go.mod': '', '.shellcheckrc': '', 'a.sh': '' };
    expect(await pick({ needs: 'test' }, shell)).toEqual(['go:']);
    await expect(pick({ needs: 'lint' }, shell)).rejects.toMatchObject({ code: 'E_LANGUAGE_REQUIRED' });
    const bare = { 'package.json': '{}', 'a/package.json': '{"scripts":{"test":"jest"}}' };
    expect(await pick({ needs: 'test' }, bare)).toEqual(['node:a']);
    expect(await pick({ needs: 'typecheck' }, bare)).toEqual(['node:']);
  });

  test('are the nearest of each language', async () => {
    const profiles = await detect(tree);
    expect(show(nearestProjects('packages/a/src/x.ts', profiles))).toEqual(['go:', 'node:packages/a']);
  });

  test('get paths relative to themselves', async () => {
    const [inner] = (await detect(tree)).filter(({ directory }) => directory === 'packages/a');
    expect(toProjectPath('./packages/a/src/x.ts', inner!)).toBe('src/x.ts');
    expect(toProjectPath('packages/abc/x.ts', inner!)).toBe('packages/abc/x.ts');
    expect(toWorkspacePath('src/x.ts', inner!)).toBe('packages/a/src/x.ts');
  });
});

function onDisk(path: string): Files {
  return createDiskFiles({ handle: openRoot(path), names: [path] });
}
