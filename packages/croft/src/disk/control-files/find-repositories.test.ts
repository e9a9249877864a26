import { closeSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openRoot } from '../paths/handles.ts';
import { findEntriesByName } from './find-entries-by-name.ts';
import { findEntriesByNameInSteps } from './find-entries-by-name-in-steps.ts';
import { findRepositories } from './find-repositories.ts';

const limits = { maxDepth: 256, maxEntries: 4_000_000, skipped: ['node_modules'] };

interface Tree {
  [name: string]: Tree | 'file' | 'link';
}

function plant(at: string, tree: Tree): void {
  for (const [name, node] of Object.entries(tree)) {
    const path = join(at, name);
    if (node === 'file') writeFileSync(path, 'x');
    else if (node === 'link') symlinkSync('anywhere', path);
    else {
      mkdirSync(path);
      plant(path, node);
    }
  }
}

async function findBoth(tree: Tree) {
  using fixture = makeDirectory();
  plant(fixture.path, tree);
  const handle = openRoot(fixture.path);
  try {
    const quick = await findRepositories(handle);
    const steps = await findRepositories(handle, () => findEntriesByNameInSteps(handle, limits));
    return { quick: inOrder(quick), steps: inOrder(steps) };
  } finally {
    closeSync(handle);
  }
}

/** The order within one directory is the file system's. */
function inOrder({ directories, gitFiles, links }: Awaited<ReturnType<typeof findRepositories>>) {
  const sort = (all: readonly unknown[]) => all.map((each) => JSON.stringify(each)).sort();
  return { directories: sort(directories), gitFiles: sort(gitFiles), links: sort(links) };
}

const repository: Tree = { HEAD: 'file', objects: { ab: { HEAD: 'file', commondir: 'file' } }, refs: {}, hooks: {} };

test('finds repositories of every kind, and links that programs obey', async () => {
  const { quick } = await findBoth({
    '.git': { ...repository, config: 'file' },
    bare: repository,
    deep: { er: { '.git': {}, src: { config: 'file' } }, tree: { '.git': 'file' } },
    worktree: { HEAD: 'file', commondir: 'file' },
    stripped: { config: 'file', hooks: {} },
    node_modules: { bare: repository },
    '.mcp.json': 'link',
    sub: { 'x.code-workspace': 'link', '.vscode': 'link', 'plain.txt': 'link', '.zshrc': 'file' },
  });
  const toFound = (path: string) => JSON.parse(path);
  expect(quick.directories.map(toFound).map(({ git }) => git)).toEqual(
    ['.git', 'bare', 'deep/er/.git', 'stripped', 'worktree'].sort(),
  );
  expect(quick.gitFiles.map(toFound)).toEqual(['deep/tree/.git']);
  expect(quick.links.map(toFound).map(({ path }) => path)).toEqual([
    '.mcp.json',
    'sub/.vscode',
    'sub/x.code-workspace',
  ]);
});

const names = ['.git', 'HEAD', 'objects', 'refs', 'commondir', 'config', 'hooks', 'logs', 'lfs', 'gitdir'];
const others = ['node_modules', '.vscode', '.mcp.json', 'a.code-workspace', 'src', 'é', ' ', 'config.worktree'];
const { tree } = fc.letrec<{ tree: Tree; node: Tree[string] }>((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, fc.constantFrom('file' as const, 'link' as const), tie('tree')),
  tree: fc.dictionary(fc.constantFrom(...names, ...others), tie('node'), { maxKeys: 7, noNullPrototype: true }),
}));

test('the search with the addon and the search without it give the same result', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (planted) => {
      const { quick, steps } = await findBoth(planted);
      expect(quick).toEqual(steps);
    }),
    { numRuns: 150 },
  );
});

test('results near the root come first, and directories without a match are left out', async () => {
  using fixture = makeDirectory();
  plant(fixture.path, { a: { b: { c: { '.git': {} }, '.git': {} }, '.git': {} }, plain: { file: 'file' }, '.git': {} });
  const handle = openRoot(fixture.path);
  const found = await findEntriesByName(handle, ['.git']);
  closeSync(handle);
  expect(found.filter(({ kinds }) => kinds.size === 0).map(({ path }) => path)).toEqual([
    ...['.git', 'a/.git', 'a/b/.git', 'a/b/c/.git'],
  ]);
  expect(found.map(({ path }) => path)).not.toContain('plain');
});

test('a directory larger than one read, and one with thousands of subdirectories, are searched completely', async () => {
  using fixture = makeDirectory();
  for (let index = 0; index < 3000; index++) mkdirSync(fixture.at(`directory-with-a-long-name-${index}`));
  const last = readdirSync(fixture.path).at(-1) ?? '';
  mkdirSync(fixture.at(`${last}/.git`));
  const handle = openRoot(fixture.path);
  const { directories } = await findRepositories(handle);
  closeSync(handle);
  expect(directories).toEqual([{ git: `${last}/.git`, tree: last }]);
});
