import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, bytes, call, put, text: textOf } = shareServer({ 'dir/inner.txt': 'inner\n' });
const write = (file_path: string, content: string) => call('write', { file_path, content });
const read = (file_path: string) => call('read', { file_path });

describe('a new file', () => {
  test.each([
    ['five.txt', 'hello', 5],
    ['empty.txt', '', 0],
    ['bytes.txt', 'é😀', 6],
    ['new/deep/er.txt', 'x\n', 2],
    ['naïve 日本.txt', 'x', 1],
    ['-rf', 'x', 1],
    ['..dots', 'x', 1],
  ])('%s is created and its bytes counted', async (name, content, count) => {
    const answer = await write(name, content);
    expect(answer).toMatchObject({ text: `wrote ${count} bytes to ${name}`, isError: false });
    expect(answer.structured).toEqual({ path: name, bytes: count, created: true });
    expect(textOf(name)).toBe(content);
  });

  test.each(['a\r\nb\r\n', '\uFEFFmarked', 'no end', 'nul \0 inside', '$& $1 $$ $`', '\u2028\u0085'])(
    'holds %j byte for byte',
    async (content) => {
      await write('exact.txt', content);
      expect(bytes('exact.txt')).toEqual(Buffer.from(content));
      rmSync(at('exact.txt'));
    },
  );

  test('of several megabytes arrives complete', async () => {
    const content = 'line of text with an é\n'.repeat(200_000);
    await write('big.txt', content);
    expect(bytes('big.txt').equals(Buffer.from(content))).toBe(true);
  });

  test('is an ordinary file, without others beside it', async () => {
    await write('fresh/plain.txt', 'x');
    expect(statSync(at('fresh/plain.txt')).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(statSync(at('fresh')).mode & 0o777).toBe(0o777 & ~process.umask());
    expect(readdirSync(at('fresh'))).toEqual(['plain.txt']);
  });
});

test.each(['Write', 'file-create', 'write_file'])('can be called as %s, with path for file_path', async (alias) => {
  expect(await call(alias, { path: `${alias}.txt`, content: 'x' })).toMatchObject({
    text: `wrote 1 bytes to ${alias}.txt`,
  });
  expect(textOf(`${alias}.txt`)).toBe('x');
});

test.each([
  ['no content', { file_path: 'never.txt' }, 'content is required'],
  ['no path', { content: 'x' }, 'file_path is required'],
  ['an empty path', { file_path: '', content: 'x' }, 'file_path is required'],
  ['a number for content', { file_path: 'never.txt', content: 5 }, 'content'],
  ['half of a surrogate pair', { file_path: 'never.txt', content: '\ud83d' }, 'content'],
])('names the argument when given %s', async (_, args, message) => {
  const answer = await call('write', args);
  expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  expect(messageOf(answer)).toContain(message);
  expect(readdirSync(at('.'))).not.toContain('never.txt');
});

describe('an existing file', () => {
  test('cannot be overwritten before it was read', async () => {
    put('unread.txt', 'theirs');
    expect(await write('unread.txt', 'mine')).toMatchObject({
      text: 'refusing to overwrite unread.txt: Read it first',
      isError: true,
      structured: { error: { code: 'E_NOT_READ', kind: 'not_read' } },
    });
    expect(textOf('unread.txt')).toBe('theirs');
  });

  test.each([{}, { limit: 1 }, { offset: 2 }])('can be overwritten after a read with %j', async (window) => {
    put('seen.txt', 'one\ntwo\n');
    await call('read', { file_path: 'seen.txt', ...window });
    expect((await write('seen.txt', 'new')).structured).toEqual({ path: 'seen.txt', bytes: 3, created: false });
    expect(textOf('seen.txt')).toBe('new');
  });

  test('counts as read when this session wrote it', async () => {
    await write('own.txt', 'one');
    expect((await write('own.txt', 'two')).isError).toBe(false);
    expect((await call('edit', { file_path: 'own.txt', old_string: 'two', new_string: 'three' })).isError).toBe(false);
    expect(textOf('own.txt')).toBe('three');
  });

  test('does not count as read when the read failed', async () => {
    put('short.txt', 'one\n');
    expect((await call('read', { file_path: 'short.txt', offset: 50 })).isError).toBe(true);
    expect(codeOf(await write('short.txt', 'mine'))).toBe('E_NOT_READ');
  });

  test('is refused as stale after another program changed it, until it is read again', async () => {
    put('stale.txt', 'one');
    await read('stale.txt');
    put('stale.txt', 'two');
    const answer = await write('stale.txt', 'mine');
    expect(codeOf(answer)).toBe('E_STALE');
    expect(answer.text).toMatch(/refusing to overwrite stale\.txt: .*changed[\s\S]*Read the file again/);
    expect(textOf('stale.txt')).toBe('two');
    await read('stale.txt');
    expect((await write('stale.txt', 'mine')).isError).toBe(false);
    expect(textOf('stale.txt')).toBe('mine');
  });

  test('is stale also if its size and times are unchanged', async () => {
    put('sly.txt', 'one');
    const { atime, mtime } = statSync(at('sly.txt'));
    await read('sly.txt');
    put('sly.txt', 'two');
    utimesSync(at('sly.txt'), atime, mtime);
    expect(codeOf(await write('sly.txt', 'mine'))).toBe('E_STALE');
  });

  test('that was changed and changed back counts as the same', async () => {
    put('back.txt', 'one');
    await read('back.txt');
    put('back.txt', 'two');
    put('back.txt', 'one');
    expect((await write('back.txt', 'mine')).isError).toBe(false);
  });

  test('that another program deleted is created again', async () => {
    put('gone.txt', 'one');
    await read('gone.txt');
    rmSync(at('gone.txt'));
    expect((await write('gone.txt', 'mine')).structured).toMatchObject({ created: true });
  });

  test.each([
    ['other content', 'theirs', 'E_STALE'],
    ['the same content', 'one', undefined],
  ])('may have been deleted and created again by another program with %s', async (_, content, code) => {
    put('again.txt', 'one');
    await read('again.txt');
    rmSync(at('again.txt'));
    put('again.txt', content);
    expect(codeOf(await write('again.txt', 'mine'))).toBe(code);
    expect(textOf('again.txt')).toBe(code ? content : 'mine');
  });

  test('needs a new read after the delete tool removed it and another program made it again', async () => {
    put('cycle.txt', 'one');
    await read('cycle.txt');
    await call('delete', { file_path: 'cycle.txt' });
    put('cycle.txt', 'theirs');
    expect(codeOf(await write('cycle.txt', 'mine'))).toBe('E_NOT_READ');
  });

  test.each([0o755, 0o600, 0o444, 0o711])('keeps its mode %o', async (mode) => {
    put('mode.txt', 'x');
    chmodSync(at('mode.txt'), mode);
    await read('mode.txt');
    expect((await write('mode.txt', 'y')).isError).toBe(false);
    expect(statSync(at('mode.txt')).mode & 0o7777).toBe(mode);
    rmSync(at('mode.txt'));
  });

  test.skipIf(process.getuid?.() !== 0)('keeps its owner under a server that runs as root', async () => {
    put('owned.txt', 'x');
    chownSync(at('owned.txt'), 1234, 1235);
    await read('owned.txt');
    await write('owned.txt', 'y');
    expect(statSync(at('owned.txt'))).toMatchObject({ uid: 1234, gid: 1235 });
  });
});

test('a link that stays inside is written through and stays a link', async () => {
  put('target.txt', 'one');
  symlinkSync('target.txt', at('link.txt'));
  expect(codeOf(await write('link.txt', 'mine'))).toBe('E_NOT_READ');
  await read('target.txt');
  expect((await write('link.txt', 'mine')).structured.path).toBe('target.txt');
  expect(lstatSync(at('link.txt')).isSymbolicLink()).toBe(true);
  expect(textOf('target.txt')).toBe('mine');
});

test.each([
  ['dir', 'E_NOT_A_FILE', 'path is a directory: dir'],
  ['.', 'E_NOT_A_FILE', 'path is a directory'],
  ['dir/inner.txt/child', 'E_NOT_A_DIRECTORY', 'dir/inner.txt/child'],
  ['../out.txt', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['/tmp/croft-out.txt', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['dangling', 'E_DANGLING_LINK', 'dangling'],
  ['pipe', 'E_NOT_A_FILE', 'not a regular file: pipe'],
  ['nul\0', 'E_INVALID_PATH', 'NUL'],
  ['half\ud800', 'E_INVALID_PATH', 'half'],
  [`d/${'x'.repeat(256)}`, 'E_NAME_TOO_LONG', 'too long'],
])('refuses to write %j with %s', async (file_path, code, message) => {
  rmSync(at('dangling'), { force: true });
  rmSync(at('pipe'), { force: true });
  symlinkSync('nowhere.txt', at('dangling'));
  execFileSync('mkfifo', [at('pipe')]);
  const answer = await call('write', { file_path, content: 'x' });
  expect(codeOf(answer)).toBe(code);
  expect(answer.text).toContain(message);
  expect(readdirSync(at('dir'))).toEqual(['inner.txt']);
  expect(readdirSync(at('.'))).not.toContain('nowhere.txt');
});

test('concurrent writes create the file once and leave one of them, whole', async () => {
  mkdirSync(at('race'));
  const contents = Array.from({ length: 20 }, (_, index) => String(index).repeat(2000));
  const answers = await Promise.all(contents.map((content) => write('race/f.txt', content)));
  const written = contents.filter((_, index) => !answers[index]?.isError);
  expect(written).toContain(textOf('race/f.txt'));
  expect(answers.filter(({ structured }) => structured.created)).toHaveLength(1);
  expect(readdirSync(at('race'))).toEqual(['f.txt']);
});
