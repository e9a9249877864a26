import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { makeDirectory } from '../../../../test/support/harness.ts';
import { createDiskFiles } from '../../../disk/disk-files.ts';
import { openRoot } from '../../../disk/paths/handles.ts';
import { findLiteralDirectory } from './literal-directory.ts';

function open(tree: Record<string, string>) {
  const fixture = makeDirectory(tree);
  const files = createDiskFiles({ handle: openRoot(fixture.path), names: [fixture.path] });
  return { ...fixture, files };
}

/** The files below `prefix` that ripgrep lists when it starts there, or at the root. */
function list(directory: string, start: string, prefix: string): string[] {
  const argv = ['--files', '--hidden', '--no-config', '--no-require-git', '--glob=!.git', `./${start}`];
  const { stdout } = spawnSync('rg', argv, { cwd: directory, encoding: 'utf8' });
  const paths = stdout.split('\n').map((path) => path.replace(/^\.\//, ''));
  return paths.filter((path) => path.startsWith(`${prefix}/`)).sort();
}

const plain = {
  'src/app/deep/x.ts': '',
  'src/app/deep/x.log': '',
  'src/app/y.ts': '',
  'src/z.ts': '',
  'test/src/x.ts': '',
};

test.each<[pattern: string, start: string | undefined]>([
  ['src/app/*.ts', 'src/app'],
  ['src/app/deep/x.ts', 'src/app/deep'],
  ['src/*/deep/*.ts', 'src'],
  ['src/**/*.ts', 'src'],
  ...['*.ts', '**/src/*.ts', '{src,test}/x.ts', '!src/x.ts', '/src/x.ts', './src/x', '../x'].map(
    (pattern): [string, undefined] => [pattern, undefined],
  ),
  ['gone/x.ts', undefined],
  ['src/z.ts/x', undefined],
  ['.git/hooks/x', undefined],
])('a search for %s starts at %s', async (pattern, start) => {
  using fixture = open({ ...plain, '.git/hooks/x': '' });
  expect(await findLiteralDirectory(fixture.files, pattern)).toBe(start);
});

const rules: Record<string, string>[] = [
  { '.gitignore': '*.log\n' },
  { '.gitignore': 'deep\n' },
  { '.gitignore': 'deep/\n!src/app/deep/\n' },
  { '.gitignore': '/src/app\n' },
  { '.gitignore': 'src/*\n!src/app\n' },
  { '.gitignore': '/src/app/deep/x.ts\n' },
  { 'src/.gitignore': 'app\n' },
  { '.gitignore': 'app\n', 'src/.gitignore': '!app\n' },
  { 'src/app/.gitignore': 'deep\n' },
  { 'src/app/deep/.gitignore': '*\n' },
  { '.gitignore': '**/deep/\n' },
  { '.gitignore': '/dist\nbuild/out/\ntest/src\n*.tmp\n' },
  { '.gitignore': '# only words\n\n' },
  { '.ignore': 'deep\n' },
  { '.rgignore': 'src\n' },
  { '.git/info/exclude': 'deep\n', '.git/HEAD': '' },
  { '.git/info/exclude': '# nothing\n', '.git/HEAD': '' },
];

test.each(rules.flatMap((files) => ['src', 'src/app', 'src/app/deep'].map((prefix) => [files, prefix] as const)))(
  'with the rules %j nothing that is ignored below %s is found, and nothing else is missed',
  async (files, prefix) => {
    using fixture = open({ ...plain, ...files });
    const start = await findLiteralDirectory(fixture.files, `${prefix}/*.ts`);
    expect(list(fixture.path, start ?? '', prefix)).toEqual(list(fixture.path, '', prefix));
  },
);

test('rules for names, or for other paths, do not prevent the search from starting below', async () => {
  using fixture = open({ ...plain, '.gitignore': '*.log\nnode_modules/\n/dist\n!/build/keep\ntest/src\n' });
  expect(await findLiteralDirectory(fixture.files, 'src/app/*.ts')).toBe('src/app');
});

test('a link on the path to the start is not followed', async () => {
  using fixture = open(plain);
  symlinkSync('src', fixture.at('linked'));
  expect(await findLiteralDirectory(fixture.files, 'linked/app/*.ts')).toBeUndefined();
});

test('the cost does not depend on the siblings of the directory', async () => {
  const work = async (siblings: number) => {
    const beside = Array.from({ length: siblings }, (_, index) => [`src/beside-${index}/x.ts`, '']);
    using fixture = open({ ...plain, '.gitignore': '*.log\n', ...Object.fromEntries(beside) });
    const [read, stat, listed] = [
      vi.spyOn(fixture.files, 'read'),
      vi.spyOn(fixture.files, 'stat'),
      vi.spyOn(fixture.files, 'list'),
    ];
    expect(await findLiteralDirectory(fixture.files, 'src/app/*.ts')).toBe('src/app');
    return [read, stat, listed].map((calls) => calls.mock.calls.length);
  };
  expect(await work(200)).toEqual(await work(1));
  expect((await work(1)).at(-1)).toBe(0);
});
