import { randomBytes } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSearchBoxPool } from '../../src/app/workspaces/search-box-pool.ts';
import type { ToolContext } from '../../src/core/tools/tool.ts';
import type { Workspace } from '../../src/core/workspace/workspace.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { createDirectGlob } from '../../src/storages/s3/direct/direct-glob.ts';
import { createDirectObjects } from '../../src/storages/s3/direct/direct-objects.ts';
import { createS3Files } from '../../src/storages/s3/direct/s3-files.ts';
import { glob } from '../../src/tools/glob.ts';
import { sendable } from '../contracts/object-store.ts';
import { makeDirectory } from '../support/harness.ts';
import { startS3 } from '../support/s3/s3-server.ts';

const server = await startS3();
const bucket = (await server?.bucket('glob')) ?? '';
const root = '/workspaces/site';
const searches = createSearchBoxPool();
afterAll(() => searches.close());

interface Tree {
  readonly files: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** The same tree as a directory of this machine and in a bucket. */
async function plantBoth({ files, links = {} }: Tree) {
  const directory = makeDirectory(files);
  onTestFinished(() => directory[Symbol.dispose]());
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(dirname(directory.at(name)), { recursive: true });
    symlinkSync(target, directory.at(name));
  }
  const handle = openRoot(directory.path);
  const mounted = { directoryFd: handle, workspacePath: root };
  const onDisk = {
    root,
    files: createDiskFiles({ handle, names: [root] }),
    withSearchBox: searches.openIn(mounted, () => {}),
  };
  return { onDisk, inBucket: await plantInBucket({ files, links }), directory };
}

async function plantInBucket({ files, links = {} }: Tree) {
  const namespace = `fs-${randomBytes(6).toString('hex')}`;
  const objects = createObjectStore({ ...server!, bucket, credentials: server!, allowPrivate: true, prefix: '' });
  onTestFinished(() => objects.close());
  const put = (key: string, text: string, metadata = {}) =>
    objects.put(`${namespace}/${key}`, sendable(text), { metadata });
  await Promise.all([
    ...Object.entries(files).map(([key, text]) => put(key, text)),
    ...Object.entries(links).map(([key, text]) => put(key, text, { 'croft-kind': 'link' })),
  ]);
  const direct = createDirectObjects(objects, namespace);
  const s3Files = createS3Files({ objects, namespace, names: [root], direct });
  return { root, files: s3Files, listFiles: createDirectGlob({ direct, files: s3Files }), put, objects, namespace };
}

async function find(workspace: object, pattern: string, path = '', limit = 1000) {
  const context = { workspace: workspace as Workspace, base: '', signal: new AbortController().signal } as ToolContext;
  const { structured } = await glob.prepare({ pattern, path, limit }, '').run(context);
  return structured as { paths: string[]; total: number; truncated: boolean };
}

const sorted = async (workspace: object, pattern: string, path = '') => {
  const { paths, ...rest } = await find(workspace, pattern, path);
  return { ...rest, paths: paths.toSorted() };
};

const patterns = [
  '**',
  '*',
  '*.ts',
  'src/**',
  'src/*.ts',
  '**/a*',
  '{a,b}*',
  '**/.*',
  '[!a]*',
  'src/**/*.{ts,js}',
  '!*.ts',
  '**/build/**',
];

describe.skipIf(!server)('glob straight from a bucket', () => {
  test('gives the same as on a mount: rules of all kinds, at all depths, repositories inside', async () => {
    const { onDisk, inBucket } = await plantBoth({
      files: {
        ...{ 'a.ts': '1', 'src/a.ts': '2', 'src/b.js': '3', '.env': '4', '.hidden/x.ts': '5', 'src/.keep': '' },
        ...{
          '.gitignore': 'build/\n*.log\n!keep.log\n/only-root.ts\nsrc/**/gen\n#comment\n\\#odd\nspace\\ \n',
          '#odd': '',
          'space ': '',
        },
        ...{
          'build/out.ts': '',
          'src/build/out.ts': '',
          'a.log': '',
          'keep.log': '',
          'src/x.log': '',
          'only-root.ts': '',
        },
        ...{
          'src/only-root.ts': '',
          'src/deep/er/gen/x.ts': '',
          'src/gen/x.ts': '',
          'src/deep/.gitignore': '!*.log\n/z.ts',
          'src/deep/y.log': '',
        },
        ...{
          'src/deep/z.ts': '',
          '.ignore': '*.tmp\n!a.log\n',
          'x.tmp': '',
          '.rgignore': '!x.tmp\nrg-only\n',
          'rg-only': '',
          'y.tmp': '',
        },
        ...{
          '.git/config': '',
          '.git/info/exclude': 'excluded.ts\n',
          'excluded.ts': '',
          'sub/.git/HEAD': '',
          'sub/a.log': '',
          'sub/b.ts': '',
        },
        ...{
          'sub/.git/info/exclude': 'b.ts',
          'sub/only-root.ts': '',
          'tree/.git': 'gitdir: x',
          'tree/a.log': '',
          'sub/.gitignore': 'nested/\n',
          'sub/nested/x': '',
        },
        ...{ '.croft-tmp-1': '', 'ü.ts': '', 'a b.ts': '' },
      },
      links: { 'link.ts': 'a.ts', 'src/dir': '../sub', out: '/etc' },
    });
    for (const path of ['', 'src', 'sub', 'src/deep', 'build', '.hidden'])
      for (const pattern of patterns)
        expect([path, pattern, await sorted(inBucket, pattern, path)]).toEqual([
          path,
          pattern,
          await sorted(onDisk, pattern, path),
        ]);
    expect((await sorted(inBucket, '**')).paths).toContain('keep.log');
  });

  test('gives the same for any tree and any rules', async () => {
    const name = fc.constantFrom('a', 'b', 'ab', '.c', 'a.ts', 'b.log', 'build', 'x y', '.git', 'ä');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    const rule = fc
      .tuple(
        fc.constantFrom('', '', '!'),
        fc.constantFrom('', '/', '**/'),
        fc.constantFrom('a', '*.ts', 'b*', 'build', '?', '[ab]', 'a/b', '.*'),
        fc.constantFrom('', '', '/', '/**'),
      )
      .map((parts) => parts.join(''));
    const ignoreFile = fc.tuple(
      fc.constantFrom('', 'a/', 'build/', 'a/b/'),
      fc.constantFrom('.gitignore', '.ignore', '.rgignore'),
      fc.array(rule, { maxLength: 4 }),
    );
    const tree = fc.tuple(fc.array(path, { minLength: 1, maxLength: 25 }), fc.array(ignoreFile, { maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(tree, async ([paths, ignores]) => {
        const files = Object.fromEntries([
          ...paths.map((one) => [one, one] as const),
          ...ignores.map(([at, of, lines]) => [at + of, lines.join('\n')] as const),
        ]);
        const isDirectory = (one: string) => Object.keys(files).some((other) => other.startsWith(`${one}/`));
        const { onDisk, inBucket } = await plantBoth({
          files: Object.fromEntries(Object.entries(files).filter(([one]) => !isDirectory(one))),
        });
        for (const pattern of ['**', '*.ts', 'a/**', '**/b*'])
          expect(await sorted(inBucket, pattern)).toEqual(await sorted(onDisk, pattern));
      }),
      { numRuns: 40 },
    );
  }, 240_000);

  test('gives the newest first, and says if it was cut', async () => {
    const inBucket = await plantInBucket({ files: { 'old.ts': '1' } });
    const isLater = async (first: string, second: string) => {
      const at = async (key: string) =>
        (await Array.fromAsync(inBucket.objects.list(`${inBucket.namespace}/${key}`))).flat()[0]!;
      return (await at(second)).modifiedAt > (await at(first)).modifiedAt;
    };
    await inBucket.put('new.ts', '2');
    while (!(await isLater('old.ts', 'new.ts'))) await inBucket.put('new.ts', '2');
    expect(await find(inBucket, '*.ts')).toMatchObject({ paths: ['new.ts', 'old.ts'], total: 2, truncated: false });
    expect(await find(inBucket, '*.ts', '', 1)).toMatchObject({ paths: ['new.ts'], total: 2, truncated: true });
  });

  test('leaves out objects being removed and invalid keys, and refuses a bad pattern or directory', async () => {
    const inBucket = await plantInBucket({
      files: { 'a.ts': '', '../b.ts': '', 'x//c.ts': '', 'dir/': '', '/d.ts': '' },
    });
    await inBucket.put('gone.ts', 'croft: deleted\n', { 'croft-kind': 'deleted' });
    expect((await find(inBucket, '**')).paths).toEqual(['a.ts']);
    await expect(find(inBucket, '[')).rejects.toMatchObject({ code: 'E_BAD_PATTERN' });
    await expect(find(inBucket, '*', 'a.ts')).rejects.toMatchObject({ code: 'E_NOT_A_DIRECTORY' });
    await expect(find(inBucket, '*', '../x')).rejects.toMatchObject({ code: 'E_SANDBOX_VIOLATION' });
  });
});
