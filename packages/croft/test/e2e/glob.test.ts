import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../../src/lib/text/patterns/glob.ts';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { callAsNobody, codeOf, giveToNobody, shareServer } from './shared-server.ts';

const names = [
  'src/a.ts',
  'src/b.tsx',
  'src/x.ts.md',
  'src/deep/c.ts',
  'src/deep/er/d.ts',
  'README.md',
  '.hidden',
  '.github/x.yml',
  'odd/[x].txt',
  'odd/{y}.txt',
  'odd/new\nline.txt',
  'odd/naïve 日本.txt',
  'odd/-rf.txt',
];
const { at, call, path: root, put } = shareServer(Object.fromEntries(names.map((name) => [name, name])));

async function find(pattern: string, more: Record<string, unknown> = {}): Promise<string[]> {
  const { structured, isError, text } = await call('glob', { pattern, ...more });
  expect(isError, text).toBe(false);
  return structured.paths.toSorted();
}

/** One that begins with plain names is looked for below them alone. */
test('a search finds exactly the paths that the pattern matches', async () => {
  using fixture = makeDirectory();
  for (const folder of ['', 'a', 'a/b', 'a/b/c', 'b', 'b/a', 'a ', 'a!', '{a}', '.a', 'dist', 'a/dist']) {
    mkdirSync(fixture.at(folder), { recursive: true });
    for (const name of ['x.ts', 'y.md']) writeFileSync(join(fixture.at(folder), name), '');
  }
  writeFileSync(fixture.at('.gitignore'), 'dist/\n');
  await using session = await connectStdio(['--workspace', fixture.path]);
  const findIn = async (pattern: string) => (await session.call('glob', { pattern })).structured.paths.toSorted();
  const all: string[] = await findIn('**');
  expect(all).toHaveLength(21);
  for (const way of ['a', 'a/b', 'a/b/c', 'b/a', 'a /', 'a!', '.a', 'dist', 'a/dist', 'none', 'x.ts', 'a/{b,dist}']) {
    for (const rest of ['*', '**', '**/*.ts', '{x,y}.*', '*/c/x.ts']) {
      const pattern = `${way}/${rest}`;
      expect(await findIn(pattern), pattern).toEqual(all.filter(compileGlob(pattern)));
    }
  }
});

describe('a pattern', () => {
  test.each([
    ['a.ts', ['src/a.ts']],
    ['*.ts', ['src/a.ts', 'src/deep/c.ts', 'src/deep/er/d.ts']],
    ['src/*.ts', ['src/a.ts']],
    ['./src/*.ts', ['src/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/deep/c.ts', 'src/deep/er/d.ts']],
    ['src/**/er/*', ['src/deep/er/d.ts']],
    ['**/d.ts', ['src/deep/er/d.ts']],
    ['src/**', ['src/a.ts', 'src/b.tsx', 'src/deep/c.ts', 'src/deep/er/d.ts', 'src/x.ts.md']],
    ['*.{ts,tsx}', ['src/a.ts', 'src/b.tsx', 'src/deep/c.ts', 'src/deep/er/d.ts']],
    ['src/{a,deep/{c,er/d}}.ts', ['src/a.ts', 'src/deep/c.ts', 'src/deep/er/d.ts']],
    ['src/?.ts*', ['src/a.ts', 'src/b.tsx', 'src/x.ts.md']],
    ['src/[a-c].ts*', ['src/a.ts', 'src/b.tsx']],
    ['src/[!ab].*', ['src/x.ts.md']],
    ['!{src,odd}/**', ['.github/x.yml', '.hidden', 'README.md']],
    ['.hidden', ['.hidden']],
    ['**/*.yml', ['.github/x.yml']],
    ['.github/*', ['.github/x.yml']],
    ['odd/\\[x\\].txt', ['odd/[x].txt']],
    ['[[]x].txt', ['odd/[x].txt']],
    ['odd/\\{y\\}.txt', ['odd/{y}.txt']],
    ['odd/naïve*', ['odd/naïve 日本.txt']],
    ['odd/* ??.txt', ['odd/naïve 日本.txt']],
    ['new*line.txt', ['odd/new\nline.txt']],
    ['-rf.txt', ['odd/-rf.txt']],
    ['src\\/a\\.ts', ['src/a.ts']],
    ['!**/*.ts', ['.github/x.yml', '.hidden', 'README.md', ...names.slice(8), 'src/b.tsx', 'src/x.ts.md']],
    ['README.md/.', ['README.md']],
    ['{README.md/,none}.', ['README.md']],
    ['*d.ts', ['src/deep/er/d.ts']],
    ['*.TS', []],
    ['src', []],
    ['nothing/**', []],
  ])('%s finds %j', async (pattern, paths) => {
    expect(await find(pattern)).toEqual(paths.toSorted());
  });

  test('without a match says so', async () => {
    const text = 'No file matches "*.none"; ignored files and links do not count.';
    expect(await call('glob', { pattern: '*.none' })).toMatchObject({
      text,
      isError: false,
      structured: { paths: [] },
    });
  });

  test.each(['[', 'src/[a', '{a,b', 'a{b', '{1..99999999}', '{a,b}'.repeat(40), 'x'.repeat(5000)])(
    '%s is refused as malformed',
    async (pattern) => {
      const answer = await call('glob', { pattern });
      expect(codeOf(answer)).toBe('E_BAD_PATTERN');
      expect(answer.text).toMatch(/\n?Next: /);
    },
  );

  test.each([
    `${'**/'.repeat(600)}zz`,
    `${'*a'.repeat(1500)}b`,
    `${'**/*a*/'.repeat(300)}b`,
    `${'[a-z]*'.repeat(500)}!`,
    `{${'a,'.repeat(900)}b}*`,
    `${'?'.repeat(2000)}*`,
  ])('made to be slow is answered fast: %#', async (pattern) => {
    put(`hostile/${'a/'.repeat(60)}${'a'.repeat(200)}`, '');
    put(`hostile/${'ab'.repeat(100)}`, '');
    expect(codeOf(await call('glob', { pattern }))).not.toBe('E_TIMEOUT');
  });
});

describe('from a directory', () => {
  test.each([
    ['*.ts', 'src/deep', ['src/deep/c.ts', 'src/deep/er/d.ts']],
    ['er/*.ts', 'src/deep', ['src/deep/er/d.ts']],
    ['src/deep/*.ts', 'src/deep', ['src/deep/c.ts']],
    ['!er/**', 'src/deep', ['src/deep/c.ts']],
    ['*.yml', '.github', ['.github/x.yml']],
    ['*.ts', 'src/../src/deep/er', ['src/deep/er/d.ts']],
    ['*.md', '', ['README.md', 'src/x.ts.md']],
    ['*.md', '.', ['README.md', 'src/x.ts.md']],
  ])('%s below %j gives paths from the root', async (pattern, path, paths) => {
    expect(await find(pattern, { path })).toEqual(paths);
    expect(await find(pattern, { path: `${root}/${path}` })).toEqual(paths);
  });

  test('named like an option is read as a directory', async () => {
    using outside = makeDirectory({ 'canary.txt': 'canary' });
    put('--follow/inside.txt', '');
    symlinkSync(outside.path, at('--follow/out'));
    expect(await find('*', { path: '--follow' })).toEqual(['--follow/inside.txt']);
    expect(await find('canary.txt')).toEqual([]);
  });

  test('reached by a link is searched at its real path', async () => {
    symlinkSync('src/deep', at('to-deep'));
    expect(await find('*.ts', { path: 'to-deep' })).toEqual(['src/deep/c.ts', 'src/deep/er/d.ts']);
  });

  test.each([
    ['README.md', 'E_NOT_A_DIRECTORY', 'path is not a directory: README.md'],
    ['absent', 'E_FILE_NOT_FOUND', 'absent'],
    ['..', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['/etc', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['pipe', 'E_NOT_A_DIRECTORY', 'path is not a directory: pipe'],
  ])('%s is refused with %s', async (path, code, message) => {
    execFileSync('rm', ['-f', at('pipe')]);
    execFileSync('mkfifo', [at('pipe')]);
    const answer = await call('glob', { pattern: '*', path });
    expect(codeOf(answer)).toBe(code);
    expect(answer.text).toContain(message);
  });
});

test('honours .gitignore without a repository, at every level', async () => {
  put('g/.gitignore', 'dist/\n*.log\n!keep.log\n');
  put('g/sub/.gitignore', '/local.txt\n');
  for (const name of ['dist/x.txt', 'a.log', 'keep.log', 'sub/local.txt', 'sub/deep/local.txt', 'sub/b.log'])
    put(`g/${name}`, '');
  const visible = ['g/.gitignore', 'g/keep.log', 'g/sub/.gitignore', 'g/sub/deep/local.txt'];
  expect(await find('**', { path: 'g' })).toEqual(visible);
  expect(await find('dist/*', { path: 'g' })).toEqual([]);
});

test('never lists .git, be it a directory or a file', async () => {
  for (const name of ['.git/config', '.git/objects/ab/cd', 'nested/.git/HEAD', 'worktree/.git', 'x.git'])
    put(`repo/${name}`, '');
  expect(await find('**', { path: 'repo' })).toEqual(['repo/x.git']);
  expect(await find('{config,HEAD,.git}')).toEqual([]);
});

test('lists no links', async () => {
  put('l/real.txt', '');
  symlinkSync('real.txt', at('l/link.txt'));
  symlinkSync('.', at('l/loop'));
  expect(await find('*', { path: 'l' })).toEqual(['l/real.txt']);
});

test('puts the newest first, and files of the same time in order of path', async () => {
  const same = Array.from(
    { length: 60 },
    (_, index) => `t/${String.fromCharCode(97 + ((index * 7) % 20))}/${index}.txt`,
  );
  for (const [name, seconds] of [
    ...same.map((path) => [path, 100] as const),
    ['t/new', 300] as const,
    ['t/a/old', 50] as const,
  ]) {
    put(name, '');
    utimesSync(at(name), seconds, seconds);
  }
  const { text } = await call('glob', { pattern: '*', path: 't' });
  expect(text.split('\n')).toEqual(['t/new', ...same.toSorted(), 't/a/old']);
});

test('keeps to the limit, newest first, and says how many there are', async () => {
  for (let index = 1; index <= 130; index++) {
    put(`n/${index}.txt`, '');
    utimesSync(at(`n/${index}.txt`), index, index);
  }
  const { text, structured } = await call('glob', { pattern: '*.txt', path: 'n', limit: 2 });
  expect(structured).toMatchObject({ paths: ['n/130.txt', 'n/129.txt'], total: 130, truncated: true });
  expect(text).toMatch(/^n\/130\.txt\nn\/129\.txt\n\(2 of 130 files; .*limit\)$/);
  for (const limit of [undefined, 0, -3]) expect(await find('*.txt', { path: 'n', limit })).toHaveLength(100);
  const whole = await call('glob', { pattern: '*.txt', path: 'n', limit: 130 });
  expect(whole.structured).toMatchObject({ total: 130, truncated: false });
  expect(whole.text.split('\n')).toHaveLength(130);
});

test.each(['Glob', 'file-find'])('can be called as %s', async (alias) => {
  expect((await call(alias, { pattern: 'a.ts' })).text).toBe('src/a.ts');
});

test.each([
  [{}, 'pattern is required'],
  [{ pattern: '' }, 'pattern is required'],
  [{ pattern: 5 }, 'pattern'],
  [{ pattern: '*', path: 5 }, 'path'],
])('names the wrong argument in %j', async (args, message) => {
  const answer = await call('glob', args);
  expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  expect(answer.text).toContain(message);
});

test('answers in limited size, however long the paths are', async () => {
  const deep = `deep/${`${'d'.repeat(240)}/`.repeat(15)}`;
  for (let index = 0; index < 300; index++) put(`${deep}${index}`, '');
  const { text, structured } = await call('glob', { pattern: 'deep/**', limit: 1000 });
  expect(JSON.stringify(structured).length).toBeLessThan(1_000_000);
  expect(structured).toMatchObject({ truncated: true, total: 300 });
  expect(text).toMatch(/\(\d+ of 300 files; narrow the pattern or raise limit\)$/);
});

test('an unreadable directory does not lose the rest', async () => {
  using directory = makeDirectory({ 'open/a.txt': '', 'shut/b.txt': '', 'z.txt': '' });
  giveToNobody(directory.at('open'), directory.at('shut'));
  chmodSync(directory.at('shut'), 0);
  const { text, isError, structured } = await callAsNobody(directory.path, 'glob', { pattern: '*.txt' });
  expect({ isError, paths: structured.paths.toSorted() }).toEqual({ isError: false, paths: ['open/a.txt', 'z.txt'] });
  expect(structured.unreadable).toBe(1);
  expect(text).toContain('could not be read');
});

describe.each(['glob', 'grep'])('%s after the root was moved', (tool) => {
  const args = { pattern: tool === 'glob' ? '*' : 'text' };

  test('does not search the target of a link in its place', async () => {
    using outer = makeDirectory({ 'root/mine.txt': 'text', 'outside/canary.txt': 'text' });
    await using session = await connectStdio(['--workspace', outer.at('root')]);
    expect((await session.call(tool, args)).text).toContain('mine.txt');
    renameSync(outer.at('root'), outer.at('moved'));
    symlinkSync(outer.at('outside'), outer.at('root'));
    expect((await session.call(tool, args)).text).not.toContain('canary');
  });

  test('finds the files at their new path or reports an error, but never an empty result', async () => {
    using outer = makeDirectory({ 'root/mine.txt': 'text' });
    await using session = await connectStdio(['--workspace', outer.at('root')]);
    expect((await session.call(tool, args)).text).toContain('mine.txt');
    renameSync(outer.at('root'), outer.at('moved'));
    const answer = await session.call(tool, args);
    expect(answer.isError || answer.text.includes('mine.txt')).toBe(true);
    expect(codeOf(answer)).not.toBe('E_INTERNAL');
  });
});

test.skipIf(process.getuid?.() !== 0).each(['glob', 'grep'])(
  '%s finds files of an owner who cannot reach the root, or reports the reason, but never an empty result',
  async (tool) => {
    using outer = makeDirectory({ 'root/mine.txt': 'text' });
    giveToNobody(outer.at('root'), outer.at('root/mine.txt'));
    chmodSync(outer.path, 0o700);
    await using session = await connectStdio(['--workspace', outer.at('root')]);
    const answer = await session.call(tool, { pattern: tool === 'glob' ? '*' : 'text' });
    expect(answer.isError || answer.text.includes('mine.txt')).toBe(true);
    expect(codeOf(answer)).not.toBe('E_INTERNAL');
  },
);
