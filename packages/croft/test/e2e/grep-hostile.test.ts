import { describe, expect, test } from 'vitest';
import { readWhole } from '../support/harness.ts';
import { codeOf, shareServer } from './shared-server.ts';

const { call, put } = shareServer({
  'dash.txt': '--files -e x\n$^.*+?()[]{}|\\\n',
  'many.txt': 'needle\n'.repeat(2500),
  'a.txt': `${'a'.repeat(5000)}!\n`,
});

/** Fails a search that has to be ended, however fast the machine is that it takes too long on. */
async function fast(args: Record<string, unknown>) {
  const answer = await call('grep', args);
  expect(codeOf(answer)).not.toBe('E_TIMEOUT');
  return answer;
}

describe('a pattern', () => {
  test.each([
    ['--files', 'dash.txt:1:--files -e x\n'],
    ['-e x', 'dash.txt:1:--files -e x\n'],
    ['\\$\\^\\.\\*', 'dash.txt:2:$^.*+?()[]{}|\\\n'],
  ])('%s is read as a pattern, not as an option', async (pattern, text) => {
    expect(await call('grep', { pattern })).toMatchObject({ text, isError: false });
  });

  test.each(['--pre=/bin/sh', '--help', '--version', '-f/etc/passwd', '--follow', '--no-ignore'])(
    '%s only matches',
    async (pattern) => {
      const { text, isError, structured } = await call('grep', { pattern });
      expect({ isError, matches: structured.matches }, text).toEqual({ isError: false, matches: [] });
    },
  );

  test.each([
    ['an open group', '('],
    ['an open class', '[a'],
    ['a lone repetition', '*'],
    ['a back-reference', '(a)\\1'],
    ['look-around', '(?=a)'],
    ['a newline outside multiline', 'a\nb'],
    ['too large a repetition', '((a{1000}){1000}){1000}'],
    ['the words of an unreadable file', '(os error 5)('],
    ['the words of a missing file', 'No such file or directory('],
    ['a NUL byte', 'a\0b'],
    ['more than an argument can hold', 'a'.repeat(300_000)],
  ])('with %s is refused as malformed', async (_, pattern) => {
    const answer = await fast({ pattern });
    expect(['E_BAD_PATTERN', 'E_INVALID_INPUT']).toContain(codeOf(answer));
    expect(answer.text.length).toBeLessThan(10_000);
  });

  test.each(['(a+)+$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a*)*b', '(.*)*x', 'a{1,500}a{1,500}b'])(
    '%s cannot make it hang',
    async (pattern) => {
      expect((await fast({ pattern, path: 'a.txt' })).isError).toBe(false);
    },
  );
});

test.each(['type', 'glob', 'path'])(
  'with a NUL byte in %s is refused as invalid, not as an internal failure',
  async (argument) => {
    const code = codeOf(await call('grep', { pattern: 'x', [argument]: 'a\0b' }));
    expect([undefined, 'E_BAD_PATTERN', 'E_INVALID_INPUT', 'E_INVALID_PATH']).toContain(code);
  },
);

describe('long output', () => {
  test.each([
    [undefined, 1000],
    [0, 1000],
    [-5, 1000],
    [7, 7],
    [2500, 2500],
  ])('is cut at head_limit %s with a note', async (head_limit, count) => {
    const answer = await call('grep', { pattern: 'needle', path: 'many.txt', head_limit });
    const text = await readWhole(call, answer);
    expect(answer.structured.truncated).toBe(count < 2500 || answer.structured.matches.length < count);
    expect(text.split('\n').filter((row) => row.startsWith('many.txt:'))).toHaveLength(count);
    if (count < 2500) expect(text).toMatch(/\n\(cut at \d+; narrow the search or raise head_limit\)\n$/);
    else expect(text).not.toContain('(cut');
  });

  test('is cut in the other modes too', async () => {
    for (let index = 0; index < 12; index++) put(`files/${index}.txt`, 'unique-needle\n');
    for (const output_mode of ['files_with_matches', 'count']) {
      const { structured } = await call('grep', { pattern: 'unique-needle', output_mode, head_limit: 5 });
      expect(structured).toMatchObject({ truncated: true });
      expect(structured.matches).toHaveLength(5);
    }
  });

  test('takes maxResults as head_limit', async () => {
    const { structured } = await call('file-search', { pattern: 'needle', path: 'many.txt', maxResults: 3 });
    expect(structured.matches).toHaveLength(3);
  });

  test('of every line in 50 MB is small and fast', async () => {
    put('huge/huge.txt', 'some text that is long enough to fill a file\n'.repeat(1_200_000));
    const { text, structured } = await fast({ pattern: '.', path: 'huge' });
    expect(structured.truncated).toBe(true);
    expect(text.length).toBeLessThan(40_000);
    const counted = await fast({ pattern: '.', path: 'huge', output_mode: 'count' });
    expect(counted.text).toBe('huge/huge.txt:1200000\n');
  });

  test('in one line of 30 MB is cut to the line’s beginning', async () => {
    put('wide/line.txt', 'needle '.repeat(4_500_000));
    const { text, structured } = await fast({ pattern: 'needle', path: 'wide' });
    expect(text.length).toBeLessThan(2500);
    expect(text).toMatch(/^wide\/line\.txt:1:needle needle /);
    expect(structured.matches).toHaveLength(1);
  });

  test('with cut lines stays well-formed', async () => {
    put('emoji/line.txt', `${'x'.repeat(999)}${'😀'.repeat(50)}\n`);
    const { text } = await call('grep', { pattern: 'x', path: 'emoji' });
    expect(text.isWellFormed()).toBe(true);
  });

  test('of ten thousand long lines fits in one answer', async () => {
    put('long/lines.txt', `needle ${'w'.repeat(990)}\n`.repeat(10_000));
    const answer = await fast({ pattern: 'needle', path: 'long', head_limit: 10_000 });
    expect(answer.text.length).toBeLessThan(40_000);
    expect(answer.structured.truncated).toBe(true);
    const text = await readWhole(call, answer);
    const shown = text.split('\n').filter((row) => row.startsWith('long/lines.txt:'));
    expect(text).toMatch(new RegExp(`\\n\\(cut at ${shown.length}; narrow the search\\)\\n$`));
  });
});
