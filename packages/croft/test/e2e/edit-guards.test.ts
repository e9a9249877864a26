import { rmSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, call, put, text: textOf } = shareServer({ 'dir/inner.txt': 'inner\n' });

async function known(name: string, content: string) {
  put(name, content);
  await call('read', { file_path: name });
}
const edit = (file_path: string, old_string: string, new_string: string) =>
  call('edit', { file_path, old_string, new_string });

test('refuses a file that was not read', async () => {
  put('unread', 'one');
  expect(await edit('unread', 'one', 'two')).toMatchObject({
    isError: true,
    text: 'refusing to edit unread: Read it first',
    structured: { error: { code: 'E_NOT_READ' } },
  });
  expect(textOf('unread')).toBe('one');
});

test.each([
  ['no path', { old_string: 'a', new_string: 'b' }, 'file_path is required'],
  ['no old_string', { file_path: 'unread', new_string: 'b' }, 'old_string is required'],
  ['no new_string', { file_path: 'unread', old_string: 'a' }, 'new_string is required'],
  ['an empty old_string', { file_path: 'unread', old_string: '', new_string: 'b' }, 'old_string must be non-empty'],
  ['a number', { file_path: 'unread', old_string: 'a', new_string: 5 }, 'new_string'],
  ['half of a surrogate pair', { file_path: 'unread', old_string: 'a', new_string: '\udc00' }, 'new_string'],
])('names the argument when given %s, before the file is read', async (_, args, message) => {
  put('unread', 'a');
  const answer = await call('edit', args);
  expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  expect(messageOf(answer)).toContain(message);
});

test.each([
  ['more bytes than a file may have', 2000, [{ old_string: 'a', new_string: 'b'.repeat(40_000) }]],
  ['more bytes by doubling again and again', 1000, Array(40).fill({ old_string: 'a', new_string: 'aa' })],
  ['more occurrences than can be kept', 100_001, [{ old_string: 'a', new_string: 'b' }]],
  [
    'more occurrences in all its edits',
    60_000,
    [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'b', new_string: 'a' },
    ],
  ],
])('refuses to create %s', async (_, length, edits) => {
  await known('grows', 'a'.repeat(length));
  const answer = await call('edit', { file_path: 'grows', edits, replace_all: true });
  expect(codeOf(answer)).toBe('E_TOO_LARGE');
  expect(textOf('grows')).toBe('a'.repeat(length));
});

test.each([
  ['dir', 'E_NOT_A_FILE', 'path is a directory: dir'],
  ['absent', 'E_FILE_NOT_FOUND', 'absent'],
  ['../out', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['dir/inner.txt/child', 'E_NOT_A_DIRECTORY', 'dir/inner.txt/child'],
])('refuses to edit %s with %s', async (file_path, code, message) => {
  const answer = await edit(file_path, 'a', 'b');
  expect(codeOf(answer)).toBe(code);
  expect(answer.text).toContain(message);
});

test.each(['Edit', 'file-edit', 'FileReplace'])('can be called as %s, with path for file_path', async (alias) => {
  await known('f', 'one');
  const answer = await call(alias, { path: 'f', old_string: 'one', new_string: 'two' });
  expect(answer.text).toMatch(/^replaced 1 occurrence\(s\) in f\n/);
  expect(textOf('f')).toBe('two');
});

test('counts no replacement of a text by the same text, and says that nothing was changed', async () => {
  await known('f', 'one two one\n');
  const same = { old_string: 'one', new_string: 'one' };
  const answer = await call('edit', { file_path: 'f', ...same, replace_all: true });
  expect(answer.text).toBe('nothing was changed in f: old_string and new_string are the same');
  expect(answer.structured).toMatchObject({ replaced: 0, diff: '' });
  const edits = [
    { ...same, replace_all: true },
    { old_string: 'two', new_string: '2' },
  ];
  expect((await call('edit', { file_path: 'f', edits })).structured.replaced).toBe(1);
  expect(textOf('f')).toBe('one 2 one\n');
  expect(codeOf(await edit('f', 'absent', 'absent'))).toBe('E_NO_MATCH');
});

test('refuses a file that another program changed, until it is read again', async () => {
  await known('f', 'one two\n');
  put('f', 'one two three\n');
  const answer = await edit('f', 'one', '1');
  expect(codeOf(answer)).toBe('E_STALE');
  expect(answer.text).toMatch(/refusing to edit f: .*changed[\s\S]*Read the file again/);
  expect(textOf('f')).toBe('one two three\n');
  await call('read', { file_path: 'f' });
  expect((await edit('f', 'one', '1')).isError).toBe(false);
  expect(textOf('f')).toBe('1 two three\n');
});

test('accepts a file that was changed and changed back', async () => {
  await known('f', 'one');
  put('f', 'two');
  put('f', 'one');
  expect((await edit('f', 'one', '1')).isError).toBe(false);
});

test('needs no read between edits of its own', async () => {
  await known('f', 'one');
  for (const [before, after] of [
    ['one', 'two'],
    ['two', 'three'],
    ['three', 'four'],
  ] as const) {
    expect((await edit('f', before, after)).isError).toBe(false);
  }
  expect(textOf('f')).toBe('four');
});

test('still accepts a file after an edit that did not match', async () => {
  await known('f', 'one');
  await edit('f', 'absent', 'x');
  expect((await edit('f', 'one', 'two')).isError).toBe(false);
});

test('reports a file that another program deleted as missing, and does not create it', async () => {
  await known('f', 'one');
  rmSync(at('f'));
  expect(codeOf(await edit('f', 'one', 'two'))).toBe('E_FILE_NOT_FOUND');
  put('f', 'entirely new');
  expect(codeOf(await edit('f', 'entirely', 'two'))).toBe('E_STALE');
  expect(textOf('f')).toBe('entirely new');
});

test.each(['delete', 'move'])('needs a new read after %s removed the file', async (tool) => {
  await known('f', 'one');
  rmSync(at('elsewhere'), { force: true });
  await call(tool, tool === 'move' ? { from: 'f', to: 'elsewhere' } : { file_path: 'f' });
  put('f', 'one');
  expect(codeOf(await edit('f', 'one', 'two'))).toBe('E_NOT_READ');
});

test('accepts a file by every name that leads to it', async () => {
  put('target.txt', 'one');
  symlinkSync('target.txt', at('link.txt'));
  await call('read', { file_path: './dir/../link.txt' });
  expect((await edit(at('target.txt'), 'one', 'two')).isError).toBe(false);
  expect((await edit('link.txt', 'two', 'three')).isError).toBe(false);
  expect(textOf('target.txt')).toBe('three');
});

test('a link that was pointed to another file does not count as a read of that file', async () => {
  put('first.txt', 'one');
  put('second.txt', 'one');
  symlinkSync('first.txt', at('turning'));
  await call('read', { file_path: 'turning' });
  rmSync(at('turning'));
  symlinkSync('second.txt', at('turning'));
  expect(codeOf(await edit('turning', 'one', 'two'))).toBe('E_NOT_READ');
  expect(textOf('second.txt')).toBe('one');
});

test('concurrent edits of one file are all made, each on top of the others', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `line-${index};`);
  await known('f', names.join('\n'));
  const answers = await Promise.all(names.map((name) => edit('f', name, `done-${name}`)));
  expect(answers.filter(({ isError }) => isError).map(messageOf)).toEqual([]);
  expect(textOf('f')).toBe(names.map((name) => `done-${name}`).join('\n'));
});

test('a failed edit does not change whether the file counts as read', async () => {
  await known('f', 'one two');
  const answers = await Promise.all([edit('f', 'one', '1'), edit('f', 'three', '3'), edit('f', 'two', '2')]);
  expect(answers.map(codeOf)).toEqual([undefined, 'E_NO_MATCH', undefined]);
  expect(textOf('f')).toBe('1 2');
});
