import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { callAsNobody, codeOf, giveToNobody, messageOf, shareServer } from './shared-server.ts';

const lines = Array.from({ length: 20 }, (_, index) => (index % 6 === 2 ? `HIT ${index + 1}` : `line ${index + 1}`));
const { at, call, put } = shareServer({
  'ctx.txt': `${lines.join('\n')}\n`,
  'code/a.ts': 'const Alpha = 1;\nconst beta = Alpha;\n',
  'code/b.py': 'alpha = 1\n',
  'code/deep/c.ts': 'Alpha();\n',
  'code/.hidden.ts': 'Alpha in hiding\n',
  'odd/dash.txt': '--files -e x\n$^.*+?()[]{}|\\\n',
});

const rows = async (args: Record<string, unknown>) => {
  const { text, isError, structured } = await call('grep', args);
  expect(isError, text).toBe(false);
  if (structured.matches?.length === 0) expect(text).toMatch(/^No match for ".*\.\n/);
  return structured.matches?.length === 0 ? [] : text.split('\n').slice(0, -1);
};

describe('modes', () => {
  test('content gives path, line and text, in order', async () => {
    const expected = [
      'code/.hidden.ts:1:Alpha in hiding',
      'code/a.ts:1:const Alpha = 1;',
      'code/a.ts:2:const beta = Alpha;',
      'code/deep/c.ts:1:Alpha();',
    ];
    expect(await rows({ pattern: 'Alpha' })).toEqual(expected);
    expect(await rows({ pattern: 'Alpha', output_mode: 'content' })).toEqual(expected);
    const { structured } = await call('grep', { pattern: 'beta' });
    expect(structured).toEqual({
      mode: 'content',
      matches: [{ path: 'code/a.ts', line: 2, text: 'const beta = Alpha;' }],
      truncated: false,
      unreadable: 0,
    });
  });

  test('files_with_matches gives paths', async () => {
    const { text, structured } = await call('grep', { pattern: 'Alpha', output_mode: 'files_with_matches' });
    expect(text).toBe('code/.hidden.ts\ncode/a.ts\ncode/deep/c.ts\n');
    expect(structured.matches).toContainEqual({ path: 'code/a.ts' });
  });

  test('count gives lines per file', async () => {
    const { text, structured } = await call('grep', { pattern: 'Alpha', output_mode: 'count' });
    expect(text).toBe('code/.hidden.ts:1\ncode/a.ts:2\ncode/deep/c.ts:1\n');
    expect(structured.matches).toContainEqual({ path: 'code/a.ts', count: 2 });
  });

  test.each(['content', 'files_with_matches', 'count'])(
    '%s keeps the path when one file is searched, and says so without a match',
    async (output_mode) => {
      const { text } = await call('grep', { pattern: 'beta', path: 'code/a.ts', output_mode });
      expect(text).toMatch(/^code\/a\.ts(:|\n)/);
      expect(await call('grep', { pattern: 'absent', path: 'code/a.ts', output_mode })).toMatchObject({
        text: 'No match for "absent" in code/a.ts.\n',
        isError: false,
      });
    },
  );

  test('an unknown one is refused with the valid ones', async () => {
    const answer = await call('grep', { pattern: 'x', output_mode: 'bogus' });
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(answer.text).toContain('unknown output_mode: bogus (valid: content, files_with_matches, count)');
  });
});

describe('context', () => {
  test.each([
    [
      { context: 1 },
      [
        '2-line 2',
        '3:HIT 3',
        '4-line 4',
        '--',
        '8-line 8',
        '9:HIT 9',
        '10-line 10',
        '--',
        '14-line 14',
        '15:HIT 15',
        '16-line 16',
      ],
    ],
    [{ before: 1 }, ['2-line 2', '3:HIT 3', '--', '8-line 8', '9:HIT 9', '--', '14-line 14', '15:HIT 15']],
    [{ after: 1 }, ['3:HIT 3', '4-line 4', '--', '9:HIT 9', '10-line 10', '--', '15:HIT 15', '16-line 16']],
    [
      { context: 1, before: 0 },
      ['3:HIT 3', '4-line 4', '--', '9:HIT 9', '10-line 10', '--', '15:HIT 15', '16-line 16'],
    ],
    [{}, ['3:HIT 3', '9:HIT 9', '15:HIT 15']],
  ])('%j shows the lines around, in separate groups', async (args, expected) => {
    const prefixed = expected.map((row) => (row === '--' ? row : `ctx.txt${/^\d+(.)/.exec(row)?.[1]}${row}`));
    expect(await rows({ pattern: 'HIT', path: 'ctx.txt', ...args })).toEqual(prefixed);
  });

  test('marks the lines around for programs', async () => {
    const { structured } = await call('grep', { pattern: 'HIT 3', path: 'ctx.txt', after: 1 });
    expect(structured.matches).toEqual([
      { path: 'ctx.txt', line: 3, text: 'HIT 3' },
      { path: 'ctx.txt', line: 4, text: 'line 4', isContext: true },
    ]);
  });

  test('does not separate groups that touch', async () => {
    expect(await rows({ pattern: 'HIT', path: 'ctx.txt', context: 3 })).not.toContain('--');
  });

  test.each([{ context: -1 }, { context: 1e6 }, { context: 1.5 }, { before: -1 }, { after: 1e6 }])(
    'reads %j like any number: below one is the default, above the maximum is the maximum',
    async (args) => {
      expect((await rows({ pattern: 'HIT 3', path: 'ctx.txt', ...args })).join('\n')).toContain('ctx.txt:3:HIT 3');
    },
  );
});

describe('filters', () => {
  test('case_insensitive', async () => {
    expect(await rows({ pattern: 'ALPHA', case_insensitive: true, output_mode: 'files_with_matches' })).toEqual([
      'code/.hidden.ts',
      'code/a.ts',
      'code/b.py',
      'code/deep/c.ts',
    ]);
    expect(await rows({ pattern: 'ALPHA' })).toEqual([]);
  });

  test('type', async () => {
    expect(await rows({ pattern: 'alpha', case_insensitive: true, type: 'py' })).toEqual(['code/b.py:1:alpha = 1']);
  });

  test.each(['nope', '', 'py --pre=/bin/sh', '--files'])('type %j is refused as unknown', async (type) => {
    const answer = await call('grep', { pattern: 'x', type });
    expect(answer.isError).toBe(true);
    expect(codeOf(answer)).not.toBe('E_INTERNAL');
    expect(answer.text).toMatch(/type/);
    expect(answer.text).not.toMatch(/pattern|escape/);
  });

  test.each([
    ['*.py', ['code/b.py']],
    ['code/*.ts', ['code/.hidden.ts', 'code/a.ts']],
    ['**/deep/**', ['code/deep/c.ts']],
    ['*.{py,md}', ['code/b.py']],
    ['!*.ts', ['code/b.py']],
    ['deep/*.ts', ['code/deep/c.ts']],
    ['!deep/**', ['code/.hidden.ts', 'code/a.ts', 'code/b.py']],
    ['!code/deep/**', ['code/.hidden.ts', 'code/a.ts', 'code/b.py']],
    [at('code/deep/*'), ['code/deep/c.ts']],
    ['', ['code/.hidden.ts', 'code/a.ts', 'code/b.py', 'code/deep/c.ts']],
  ])('glob %s', async (glob, paths) => {
    expect(
      await rows({ pattern: 'alpha', case_insensitive: true, glob, path: 'code', output_mode: 'files_with_matches' }),
    ).toEqual(paths);
  });

  test('a malformed glob is refused', async () => {
    expect(codeOf(await call('grep', { pattern: 'x', glob: '[' }))).toBe('E_BAD_PATTERN');
  });

  test('multiline lets a pattern span lines, and only then', async () => {
    expect(await rows({ pattern: 'HIT 3\\nline 4', path: 'ctx.txt', multiline: true })).toEqual([
      'ctx.txt:3:HIT 3',
      'ctx.txt:4:line 4',
    ]);
    expect(await rows({ pattern: 'HIT 3.line', path: 'ctx.txt', multiline: true })).toHaveLength(2);
    expect(await rows({ pattern: 'HIT 3.line', path: 'ctx.txt' })).toEqual([]);
  });
});

test('honours .gitignore without a repository, and a glob does not bring back what it hides', async () => {
  put('ig/.gitignore', 'secret.txt\nbuild/\n');
  for (const name of ['secret.txt', 'build/x.txt', 'open.txt']) put(`ig/${name}`, 'needle\n');
  for (const glob of [undefined, '*.txt', '**/*', '**', 'secret.txt', 'build/**', '!*.md']) {
    const paths = await rows({ pattern: 'needle', path: 'ig', glob, output_mode: 'files_with_matches' });
    expect(paths.filter((path) => path !== 'ig/open.txt')).toEqual([]);
  }
});

test('never searches .git', async () => {
  put('repo/.git/config', 'needle-of-git\n');
  for (const glob of [undefined, '.git/**', '**/config'])
    expect(await rows({ pattern: 'needle-of-git', glob })).toEqual([]);
});

test('skips binary files, and links', async () => {
  put('bin/early.bin', Buffer.from('needle\0\nneedle\n'));
  put('bin/text.txt', 'needle\n');
  symlinkSync('text.txt', at('bin/link.txt'));
  for (const output_mode of ['content', 'files_with_matches', 'count']) {
    const paths = await rows({ pattern: 'needle', path: 'bin', output_mode });
    expect(paths.map((row) => row.split(':')[0])).toEqual(['bin/text.txt']);
  }
});

test('searches a binary file that is named, with the same result in every mode', async () => {
  put('named.bin', Buffer.from('needle one\nother\n\0\0\nneedle two\n'));
  const search = (output_mode: string) => rows({ pattern: 'needle', path: 'named.bin', output_mode });
  expect(await search('content')).toEqual(['named.bin:1:needle one', 'named.bin:4:needle two']);
  expect(await search('files_with_matches')).toEqual(['named.bin']);
  expect(await search('count')).toEqual(['named.bin:2']);
});

test.each(['a\nb', 'a\\nb'])('a line end in %j is refused with the argument to set', async (pattern) => {
  const answer = await call('grep', { pattern });
  expect(codeOf(answer)).toBe('E_BAD_PATTERN');
  expect(answer.text).toContain('set multiline to true');
  expect(answer.text).not.toMatch(/--|-U/);
});

test('shows lines without CRLF, with replacements for bytes that are not UTF-8', async () => {
  put('enc/dos.txt', 'needle dos\r\nother\r\n');
  put('enc/latin1.txt', Buffer.from('needle caf\xe9\n', 'latin1'));
  expect(await rows({ pattern: 'needle', path: 'enc' })).toEqual([
    'enc/dos.txt:1:needle dos',
    'enc/latin1.txt:1:needle caf\uFFFD',
  ]);
});

test('$ matches before CRLF, and CR can be searched for', async () => {
  put('ends/dos.txt', 'needle\r\nneedle here\r\nthe needle\r\n');
  put('ends/unix.txt', 'needle\nneedle \n');
  const expected = ['ends/dos.txt:1:needle', 'ends/dos.txt:3:the needle', 'ends/unix.txt:1:needle'];
  expect(await rows({ pattern: 'needle$', path: 'ends' })).toEqual(expected);
  expect(await rows({ pattern: 'needle$', path: 'ends', output_mode: 'count' })).toEqual([
    'ends/dos.txt:2',
    'ends/unix.txt:1',
  ]);
  for (const pattern of ['needle\\r$', 'needle\r$', 'needle\\x0D$'])
    expect(await rows({ pattern, path: 'ends' })).toEqual(expected.slice(0, 2));
  expect(await rows({ pattern: '\\s$', path: 'ends' })).toEqual(['ends/unix.txt:2:needle ']);
});

describe('a match in a long line', () => {
  const filler = 'let a1="é";'.repeat(60_000);

  test.each([
    ['at the beginning', 0],
    ['a little way in', 700],
    ['further in', 1500],
    ['behind what ripgrep prints', 3900],
    ['very far in', filler.length],
  ])('%s is shown with the text around it', async (_, start) => {
    put('long/app.min.js', `first\n${filler.slice(0, start)};call("needle-é",7)${filler}\r\nlast needle\n`);
    const [row = '', last] = await rows({ pattern: 'needle', path: 'long' });
    expect(last).toBe('long/app.min.js:3:last needle');
    expect(row).toMatch(/^long\/app\.min\.js:2:/);
    expect(row).toContain(';call("needle-é",7)let a1="é";let');
    expect(row).not.toContain('\uFFFD');
    expect(row.length).toBeLessThan(1100);
    const { structured } = await call('grep', { pattern: 'needle', path: 'long' });
    expect(structured.matches[0]).toEqual({ path: 'long/app.min.js', line: 2, text: row.replace(/^\S*?:2:/, '') });
  });

  test('at its end is shown without the next line', async () => {
    put('long-end/a.txt', `${filler}, at the needle\r\nnext line\n`);
    const [row = ''] = await rows({ pattern: 'needle$', path: 'long-end' });
    expect(row).toMatch(/^long-end\/a\.txt:1:….*, at the needle \(line cut; match at byte \d+\)$/);
  });

  test('is not shown from the middle of a word', async () => {
    put('long-words/a.txt', `${'x'.repeat(5000)} ${'y'.repeat(100)} needle ${'z'.repeat(5000)}`);
    const [row = ''] = await rows({ pattern: 'needle', path: 'long-words' });
    expect(row).toContain(`:…${'y'.repeat(100)} needle zzz`);
    put('long-words/a.txt', `${'x'.repeat(5000)}needle ${'z'.repeat(5000)}`);
    const [alone = ''] = await rows({ pattern: 'needle', path: 'long-words' });
    expect(alone).toContain(':…needle zzz');
  });

  test('is shown by its beginning in lines of context', async () => {
    put('long-around/a.txt', `${filler}\nneedle\n`);
    const [before = '', row] = await rows({ pattern: 'needle', path: 'long-around', context: 1 });
    expect(before).toMatch(/^long-around\/a\.txt-1-let a1="é";let .*… \(line cut\)$/);
    expect(row).toBe('long-around/a.txt:2:needle');
  });
});

test('searches node_modules only where path or glob names it', async () => {
  for (const name of ['node_modules/dep/index.js', 'sub/node_modules/dep/node_modules/other/index.js', 'own.js'])
    put(`mono/${name}`, 'needle\n');
  const search = (more: object) => rows({ pattern: 'needle', output_mode: 'files_with_matches', ...more });
  expect(await search({ path: 'mono' })).toEqual(['mono/own.js']);
  expect(await search({ path: 'mono', glob: '*.js' })).toEqual(['mono/own.js']);
  expect(await search({ path: 'mono', glob: '**/node_modules/dep/*.js' })).toEqual(['mono/node_modules/dep/index.js']);
  expect(await search({ path: 'mono/sub/node_modules/dep' })).toEqual([
    'mono/sub/node_modules/dep/node_modules/other/index.js',
  ]);
});

test.each(['le', 'be'])('searches UTF-16 (%s) with a byte order mark as text', async (order) => {
  const bytes = Buffer.from('\uFEFFfirst\r\nthe nëedle\r\n', 'utf16le');
  put(`wide-${order}/a.txt`, order === 'be' ? bytes.swap16() : bytes);
  for (const path of [`wide-${order}`, `wide-${order}/a.txt`])
    expect(await rows({ pattern: 'nëedle$', path })).toEqual([`wide-${order}/a.txt:2:the nëedle`]);
});

test.each(['new\nline.txt', 'a:1:b.txt', 'naïve 日本.txt', '-rf', ' lead'])(
  'prints the name %j correctly in every mode',
  async (name) => {
    put('named/sub/placeholder', '');
    execFileSync('rm', ['-rf', at('named')]);
    put(`named/${name}`, 'needle\n');
    for (const output_mode of ['content', 'files_with_matches', 'count']) {
      const { structured } = await call('grep', { pattern: 'needle', path: 'named', output_mode });
      expect(structured.matches.map(({ path }: { path: string }) => path)).toEqual([`named/${name}`]);
    }
  },
);

test('one unreadable file and one unreadable directory do not lose the rest', async () => {
  using directory = makeDirectory({
    'a.txt': 'needle',
    'shut.txt': 'needle',
    'dir/c.txt': 'needle',
    'z.txt': 'needle',
  });
  giveToNobody(...['a.txt', 'shut.txt', 'dir', 'z.txt'].map(directory.at));
  for (const name of ['shut.txt', 'dir']) chmodSync(directory.at(name), 0);
  const { text, isError, structured } = await callAsNobody(directory.path, 'grep', { pattern: 'needle' });
  expect({ isError, unreadable: structured.unreadable }).toEqual({ isError: false, unreadable: 2 });
  expect(text).toMatch(/^a\.txt:1:needle\nz\.txt:1:needle\n\(2 .*could not be read\)\n$/);
});

test.each(['Grep', 'file-search'])('can be called as %s', async (alias) => {
  expect((await call(alias, { pattern: 'beta' })).text).toBe('code/a.ts:2:const beta = Alpha;\n');
});

test.each([
  [{}, 'pattern is required'],
  [{ pattern: '' }, 'pattern is required'],
  [{ pattern: 5 }, 'pattern'],
  [{ pattern: 'x', multiline: 'yes' }, 'multiline'],
])('names the wrong argument in %j', async (args, message) => {
  const answer = await call('grep', args);
  expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  expect(messageOf(answer)).toContain(message);
});

test.each([
  ['absent', 'E_FILE_NOT_FOUND', 'absent'],
  ['..', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['/etc/passwd', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['pipe', 'E_NOT_A_FILE', 'pipe'],
])('refuses to search %s at once, with %s', async (path, code, message) => {
  execFileSync('rm', ['-f', at('pipe')]);
  execFileSync('mkfifo', [at('pipe')]);
  const answer = await call('grep', { pattern: 'x', path });
  expect(codeOf(answer)).toBe(code);
  expect(answer.text).toContain(message);
});
