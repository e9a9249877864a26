import { chmodSync, chownSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, bytes, call, put, text: textOf } = shareServer({ 'dir/inner.txt': 'inner\n' });

/** A file that this session has read. */
async function known(name: string, content: string | Buffer) {
  put(name, content);
  await call('read', { file_path: name });
}
const edit = (file_path: string, old_string: string, new_string: string, more: Record<string, unknown> = {}) =>
  call('edit', { file_path, old_string, new_string, ...more });
const editAll = (file_path: string, edits: unknown) => call('edit', { file_path, edits });

describe('one replacement', () => {
  test('answers with the count and a diff of the change', async () => {
    await known('f', 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
    const { text, structured } = await edit('f', 'four', '4');
    const diff = '@@ -2,5 +2,5 @@\n two\n three\n-four\n+4\n five\n six';
    expect(text).toBe(`replaced 1 occurrence(s) in f\n\n${diff}`);
    expect(structured).toEqual({ path: 'f', replaced: 1, diff });
    expect(textOf('f')).toBe('one\ntwo\nthree\n4\nfive\nsix\nseven\n');
  });

  test('with replace_all changes every occurrence, without overlap', async () => {
    await known('f', 'a b a\naaa');
    expect((await edit('f', 'a', 'x', { replace_all: true })).text).toMatch(/^replaced 5 occurrence\(s\) in f\n/);
    expect(textOf('f')).toBe('x b x\nxxx');
    await known('f', 'foo foo');
    expect((await edit('f', 'foo', 'bar', { replace_all: true })).text).toMatch(/^replaced 2 occurrence\(s\) in f\n/);
    await known('f', 'aaaaa');
    expect((await edit('f', 'aa', 'b', { replace_all: true })).structured.replaced).toBe(2);
    expect(textOf('f')).toBe('bba');
  });

  test('with several matches changes nothing', async () => {
    await known('f', 'x x x');
    expect(await edit('f', 'x', 'y')).toMatchObject({
      isError: true,
      text: 'old_string matched 3 times in f; add context to make it unique or set replace_all=true',
      structured: { error: { code: 'E_MANY_MATCHES', details: { matches: 3 } } },
    });
    expect(textOf('f')).toBe('x x x');
  });

  test('without a match changes nothing', async () => {
    await known('f', 'one\n');
    const answer = await edit('f', 'One', 'two');
    expect(messageOf(answer)).toBe('old_string not found in f');
    expect(codeOf(answer)).toBe('E_NO_MATCH');
    expect(textOf('f')).toBe('one\n');
  });

  test.each(['$&', '$1', '$$', '$`', "$'", '$<name>', '\\1', '\\n', ''])('writes %j literally', async (replacement) => {
    await known('f', 'before needle after');
    await edit('f', 'needle', replacement);
    expect(textOf('f')).toBe(`before ${replacement} after`);
  });

  test.each(['a.c', '(', '[x]', '^', '\\d+', '$&', '*'])('matches %j as text, not as a pattern', async (needle) => {
    await known('f', `abc 1 ${needle} x`);
    expect((await edit('f', needle, 'NEW')).isError).toBe(false);
    expect(textOf('f')).toBe(`abc 1 NEW x`);
  });

  test('by the same text is no error and no replacement', async () => {
    await known('f', 'same\n');
    expect(await edit('f', 'same', 'same')).toMatchObject({ isError: false, structured: { replaced: 0, diff: '' } });
  });

  test('in a large file answers with a small diff', async () => {
    await known('f', 'old line\n'.repeat(5000));
    const { structured } = await edit('f', 'old', 'new', { replace_all: true });
    expect(structured.replaced).toBe(5000);
    expect(structured.diff.split('\n').length).toBeLessThan(150);
  });
});

test('in a line of a megabyte answers with a small diff that shows the change', async () => {
  await known('min.js', `${'x'.repeat(500_000)}old${'y'.repeat(500_000)}`);
  const { text, structured } = await edit('min.js', 'old', 'new');
  expect(structured.diff).toMatch(/^-.*xold/m);
  expect(structured.diff).toMatch(/^\+.*xnew/m);
  expect(text.length).toBeLessThan(3000);
});

test('an old_string made to be slow to find does not stop the server', async () => {
  await known('slow', 'a'.repeat(2 * 1024 * 1024));
  const part = 'a'.repeat(20_000);
  const start = performance.now();
  expect(codeOf(await edit('slow', `${part}b${part}`, 'x'))).toBe('E_NO_MATCH');
  expect(performance.now() - start).toBeLessThan(5000);
});

describe('bytes outside of the edit', () => {
  const latin1 = Buffer.from('caf\xe9 \xff\xfe needle \x80\xe9\r\nna\xefve\n', 'latin1');

  const wide = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');

  test('in invalid UTF-16 could not be kept, so the edit is refused', async () => {
    const broken = wide('a \ud800 b\n');
    await known('f', broken);
    const answer = await edit('f', 'b', 'c');
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(answer.text).toBe(
      'f is not valid UTF-16, so an edit could not keep all of it\nNext: Change it with a command, or write it anew.\n' +
        'Code: E_INVALID_INPUT',
    );
    expect(bytes('f')).toEqual(broken);
  });

  test('in UTF-16 are shown as text in the diff', async () => {
    await known('f', wide('one\ntwo\n'));
    expect((await edit('f', 'two', '2')).structured.diff).toMatch(/-two\n\+2/);
  });

  test.each([
    ['Latin-1', latin1, 'needle', 'né', Buffer.concat([latin1.subarray(0, 8), Buffer.from('né'), latin1.subarray(14)])],
    ['NUL bytes', Buffer.from('a\0b needle \0\0'), 'needle', 'x', Buffer.from('a\0b x \0\0')],
    ['a byte order mark', Buffer.from('\uFEFFfirst\nsecond\n'), 'first', '1st', Buffer.from('\uFEFF1st\nsecond\n')],
    ['UTF-16 LE', wide('één\r\nneedle\r\n'), 'één\nneedle', '1\n😀', wide('1\r\n😀\r\n')],
    ['UTF-16 BE', wide('één\nneedle').swap16(), 'needle', '日本', wide('één\n日本').swap16()],
    ['no final newline', Buffer.from('one\ntwo'), 'two', '2', Buffer.from('one\n2')],
    ['characters of many bytes', Buffer.from('日本 needle 😀'), 'needle', '語', Buffer.from('日本 語 😀')],
    ['a lone carriage return', Buffer.from('a\rb\nneedle\n'), 'needle', 'x', Buffer.from('a\rb\nx\n')],
  ])('stay the same: %s', async (_, before, needle, replacement, after) => {
    await known('f', before);
    expect((await edit('f', needle, replacement)).isError).toBe(false);
    expect(bytes('f')).toEqual(after);
  });

  test.each([
    ['a line', 'two', '2', 'one\r\n2\r\nthree\r\n'],
    ['lines given with \\n', 'one\ntwo', '1\n2', '1\r\n2\r\nthree\r\n'],
    ['lines given with \\r\\n', 'one\r\ntwo', '1\r\n2', '1\r\n2\r\nthree\r\n'],
    ['one line by several', 'two', '2a\n2b\n', 'one\r\n2a\r\n2b\r\n\r\nthree\r\n'],
    ['a line with its ending', 'two\n', '', 'one\r\nthree\r\n'],
    ['across the end of a line', 'e\ntw', 'X\nY', 'onX\r\nYo\r\nthree\r\n'],
  ])('keep CRLF: replaces %s', async (_, needle, replacement, after) => {
    await known('dos.txt', 'one\r\ntwo\r\nthree\r\n');
    expect((await edit('dos.txt', needle, replacement)).isError).toBe(false);
    expect(textOf('dos.txt')).toBe(after);
  });

  test('keep both line endings: text as it was read can be replaced', async () => {
    await known('mixed.txt', 'one\r\ntwo\nthree\r\nfour\n');
    expect((await edit('mixed.txt', 'two', '2')).isError).toBe(false);
    expect((await edit('mixed.txt', 'one\n2', '1\n2')).isError).toBe(false);
    expect(textOf('mixed.txt')).toBe('1\r\n2\nthree\r\nfour\n');
    expect((await edit('mixed.txt', '1\n2\nthree', 'x')).isError).toBe(false);
    expect(textOf('mixed.txt')).toBe('x\r\nfour\n');
  });

  test.each([
    ['a\nb\nc\nd', 'a\nB\nc\nd', 'a\r\nB\nc\r\nd\n'],
    ['b\nc\nd\n', 'B\nc\nd\n', 'a\r\nB\nc\r\nd\n'],
    ['a\nb\nc', 'a\nb\nnew\nc', 'a\r\nb\nnew\r\nc\r\nd\n'],
    ['a\nb\nc\n', 'a\nc\n', 'a\r\nc\r\nd\n'],
    ['a\nb\n', 'a\nb\n', 'a\r\nb\nc\r\nd\n'],
    ['b\nc', 'x\nb\nc\ny', 'a\r\nx\nb\nc\ny\r\nd\n'],
  ])('keep both line endings: %j to %j leaves the lines around it', async (old, now, after) => {
    await known('mixed.txt', 'a\r\nb\nc\r\nd\n');
    expect((await edit('mixed.txt', old, now)).structured.replaced).toBe(old === now ? 0 : 1);
    expect(textOf('mixed.txt')).toBe(after);
  });

  test.each([0o755, 0o600])('stay with mode %o', async (mode) => {
    put('script.sh', 'echo hi\n');
    chmodSync(at('script.sh'), mode);
    await call('read', { file_path: 'script.sh' });
    expect((await edit('script.sh', 'hi', 'ho')).isError).toBe(false);
    expect(statSync(at('script.sh')).mode & 0o7777).toBe(mode);
  });

  test.skipIf(process.getuid?.() !== 0)('stay with their owner, under a server that runs as root', async () => {
    put('owned.txt', 'x');
    chownSync(at('owned.txt'), 1234, 1235);
    await call('read', { file_path: 'owned.txt' });
    await edit('owned.txt', 'x', 'y');
    expect(statSync(at('owned.txt'))).toMatchObject({ uid: 1234, gid: 1235 });
  });
});

describe('a list of replacements', () => {
  test('is applied in order, each to the result of the previous one', async () => {
    await known('f', 'a b\n');
    const edits = [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'b', new_string: 'c', replace_all: true },
      { old_string: 'c c', new_string: 'done' },
    ];
    expect(await editAll('f', edits)).toMatchObject({ isError: false, structured: { replaced: 4 } });
    expect(textOf('f')).toBe('done\n');
  });

  test.each([
    ['fits nowhere', 'absent', 'E_NO_MATCH', 'old_string not found in f'],
    ['fits twice', 'o', 'E_MANY_MATCHES', 'old_string matched 3 times in f'],
    ['is empty', '', 'E_INVALID_INPUT', 'old_string must be non-empty'],
  ])('changes nothing when one of them %s', async (_, old_string, code, message) => {
    await known('f', 'one two foo\n');
    const { mtimeMs, ino } = statSync(at('f'));
    const answer = await editAll('f', [
      { old_string: 'one', new_string: '1' },
      { old_string, new_string: 'x' },
      { old_string: 'two', new_string: '2' },
    ]);
    expect(codeOf(answer)).toBe(code);
    expect(messageOf(answer)).toContain(message);
    expect(textOf('f')).toBe('one two foo\n');
    expect(statSync(at('f'))).toMatchObject({ mtimeMs, ino });
  });

  test('with one that does not match names that one and the path', async () => {
    await known('f', 'one');
    const answer = await editAll('f', [
      { old_string: 'one', new_string: '1' },
      { old_string: 'absent', new_string: '' },
    ]);
    expect(messageOf(answer)).toMatch(/edit 2 of 2/);
    expect(answer.structured.error.details).toMatchObject({ path: 'f' });
  });

  test.each([
    ['an empty list', { edits: [] }, 'edits'],
    [
      'a list and old_string',
      { edits: [{ old_string: 'a', new_string: 'b' }], old_string: 'a', new_string: 'b' },
      'edits',
    ],
    ['an entry without new_string', { edits: [{ old_string: 'a' }] }, 'new_string is required'],
    ['a string', { edits: 'a' }, 'edits'],
  ])('is refused with the argument named when given %s', async (_, args, message) => {
    await known('f', 'a');
    const answer = await call('edit', { file_path: 'f', ...args });
    expect(codeOf(answer)).toBe('E_INVALID_INPUT');
    expect(messageOf(answer)).toContain(message);
    expect(textOf('f')).toBe('a');
  });
});
