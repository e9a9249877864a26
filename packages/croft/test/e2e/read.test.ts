import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, call, path, put } = shareServer({ 'three.txt': 'one\ntwo\nthree\n', 'dir/inner.txt': 'inner\n' });

test.each([
  ['one line', 'foo\n', '1\tfoo\n'],
  ['a last line without newline', 'a\nb', '1\ta\n2\tb\n'],
  ['an empty file', '', 'numbered.txt is an empty file\n'],
  ['a single newline', '\n', '1\t\n'],
  ['blank lines', 'a\n\n\nb\n', '1\ta\n2\t\n3\t\n4\tb\n'],
  ['CRLF', 'a\r\nb\r\n', '1\ta\n2\tb\n'],
  ['a carriage return inside a line', 'a\rb\n', '1\ta\rb\n'],
  ['a byte order mark', '\uFEFFa\nb\n', '1\ta\n2\tb\n'],
  ['line separators that are not newlines', 'a\u2028b\u0085c\vd\n', '1\ta\u2028b\u0085c\vd\n'],
])('numbers the lines of %s', async (_, content, text) => {
  put('numbered.txt', content);
  expect(await call('read', { file_path: 'numbered.txt' })).toMatchObject({ text, isError: false });
});

test.each(['plain\n', 'dos\r\nlines\r\n', '\uFEFFmarked\n', 'no end', 'one\ntwo\n'])(
  'shows %j with its line numbers in both channels',
  async (content) => {
    put('exact.txt', content);
    const { text, structured } = await call('read', { file_path: 'exact.txt' });
    const size = Buffer.byteLength(content);
    expect(structured).toMatchObject({ content: text, kind: 'text', size, truncated: false });
  },
);

test.each([
  [{ offset: 2 }, '2\ttwo\n3\tthree\n'],
  [{ offset: 3, limit: 5 }, '3\tthree\n'],
  [{ offset: 0 }, '1\tone\n2\ttwo\n3\tthree\n'],
  [{ offset: -7, limit: -1 }, '1\tone\n2\ttwo\n3\tthree\n'],
  [{ limit: 0 }, '1\tone\n2\ttwo\n3\tthree\n'],
  [{ offset: 2.9 }, '2\ttwo\n3\tthree\n'],
  [{ offset: 3, limit: 1e300 }, '3\tthree\n'],
  [{ column: 0 }, '1\tone\n2\ttwo\n3\tthree\n'],
  [{ offset: '2', limit: '1' }, '2\ttwo\n(lines 2-2 of 3; read on with offset: 3)\n'],
])('accepts %j', async (window, text) => {
  expect(await call('read', { file_path: 'three.txt', ...window })).toMatchObject({ text, isError: false });
});

test('refuses an offset past the end with the line count', async () => {
  const answer = await call('read', { file_path: 'three.txt', offset: 9 });
  expect(messageOf(answer)).toBe('read: offset 9 exceeds line count 3');
  expect(answer.text).toContain('read: offset 9 exceeds line count 3');
});

test('shows whole characters from a column in the middle of a character', async () => {
  put('faces.txt', '😀😀\n');
  const { text, structured } = await call('read', { file_path: 'faces.txt', column: 2 });
  expect([text, structured.content]).toEqual(['1\t\uFFFD😀\n', '1\t\uFFFD😀\n']);
});

test('reports an empty file, whatever the offset', async () => {
  put('empty.txt', '');
  expect(await call('read', { file_path: 'empty.txt', offset: 5 })).toMatchObject({
    text: 'empty.txt is an empty file\n',
    isError: false,
  });
});

test.each(['Read', 'file-read', 'read_file'])('can be called as %s, with path for file_path', async (alias) => {
  expect(await call(alias, { path: 'three.txt', limit: 3 })).toMatchObject({ text: '1\tone\n2\ttwo\n3\tthree\n' });
});

test.each([
  ['nothing', {}, 'file_path is required'],
  ['an empty path', { file_path: '' }, 'file_path is required'],
  ['a number', { file_path: 3 }, 'file_path'],
])('names the argument when given %s', async (_, args, message) => {
  const answer = await call('read', args);
  expect(codeOf(answer)).toBe('E_INVALID_INPUT');
  expect(messageOf(answer)).toContain(message);
});

test.each([
  ['dir', 'E_NOT_A_FILE', 'path is a directory: dir'],
  ['.', 'E_NOT_A_FILE', 'path is a directory: .'],
  ['absent.txt', 'E_FILE_NOT_FOUND', 'absent.txt'],
  ['absent/absent.txt', 'E_FILE_NOT_FOUND', 'absent/absent.txt'],
  ['three.txt/child', 'E_NOT_A_DIRECTORY', 'three.txt/child'],
  ['../other.txt', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['dir/../../other.txt', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['/etc/passwd', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ['nul\0.txt', 'E_INVALID_PATH', 'NUL'],
  ['x'.repeat(300), 'E_NAME_TOO_LONG', 'too long'],
])('refuses %j with %s', async (file_path, code, message) => {
  const answer = await call('read', { file_path });
  expect(codeOf(answer)).toBe(code);
  expect(answer.text).toContain(message);
});

test('refuses a pipe at once, without waiting for a writer', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  expect(codeOf(await call('read', { file_path: 'pipe' }))).toBe('E_NOT_A_FILE');
});

test('accepts an absolute path below the root, dots in the middle and a name that starts with dots', async () => {
  put('..hidden', 'hidden\n');
  const paths = [`${path}/three.txt`, './dir/../three.txt', 'absent/../three.txt', 'dir//../three.txt'];
  for (const file_path of paths) {
    expect(await call('read', { file_path })).toMatchObject({ structured: { path: 'three.txt', totalLines: 3 } });
  }
  expect(await call('read', { file_path: '..hidden' })).toMatchObject({ text: '1\thidden\n' });
});

test.each(['naïve 日本.txt', 'new\nline.txt', ' spaced ', '-rf', '"quoted"', '😀.txt'])(
  'reads a file named %j',
  async (name) => {
    put(name, 'here\n');
    expect(await call('read', { file_path: name })).toMatchObject({ text: '1\there\n', structured: { path: name } });
  },
);

test('follows a link that stays inside', async () => {
  mkdirSync(at('links'), { recursive: true });
  symlinkSync('../dir', at('links/to-dir'));
  symlinkSync(at('three.txt'), at('links/absolute'));
  expect(await call('read', { file_path: 'links/to-dir/inner.txt' })).toMatchObject({ text: '1\tinner\n' });
  expect(await call('read', { file_path: 'links/absolute' })).toMatchObject({ structured: { path: 'three.txt' } });
});

test.each(['two', null, [], {}])(
  'treats an offset of the wrong type (%j) as omitted or refuses it by name',
  async (offset) => {
    const answer = await call('read', { file_path: 'three.txt', offset });
    if (answer.isError) expect(messageOf(answer)).toContain('offset');
    else expect(answer.text).toBe('1\tone\n2\ttwo\n3\tthree\n');
  },
);

test('marks bytes that are not UTF-8, and says so', async () => {
  put('latin1.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  const { text, structured } = await call('read', { file_path: 'latin1.txt' });
  expect(text).toMatch(/^1\tcaf\uFFFD\n\n.*not valid UTF-8/);
  expect(structured.notices).toEqual([expect.stringContaining('not valid UTF-8')]);
});

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

test.each([
  ['image/png', 'pixel.png', png],
  ['image/png', 'disguised.txt', png],
  ['image/jpeg', 'a.jpg', Buffer.from('\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00', 'latin1')],
  ['image/gif', 'old.gif', Buffer.from('GIF87a\x01\x00\x01\x00\x00\x00\x00', 'latin1')],
  ['image/gif', 'a.gif', Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00', 'latin1')],
  ['image/webp', 'a.webp', Buffer.from('RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00', 'latin1')],
])('answers with an image of type %s for %s, without text that would hide it', async (mimeType, name, bytes) => {
  put(name, bytes);
  const { content, raw } = await call('read', { file_path: name });
  const data = bytes.toString('base64');
  expect(content.filter(({ type }) => type === 'image')).toEqual([{ type: 'image', mimeType, data }]);
  expect(content[0]?.text).toContain(`${mimeType}, ${bytes.length} bytes`);
  expect(raw).not.toHaveProperty('structuredContent');
});

test.each([
  ['a NUL byte', Buffer.from('ELF\0\x01\x02')],
  ['UTF-16 that has no byte order mark', Buffer.from('text', 'utf16le')],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ['a RIFF file that is no WebP', Buffer.from('RIFF\0\0\0\0WAVEfmt ')],
])('reports a file with %s as binary, without its content', async (_, bytes) => {
  put('blob.bin', bytes);
  const { text, structured, content } = await call('read', { file_path: 'blob.bin' });
  expect(text).toMatch(/^binary file blob\.bin \(.*\d+ bytes\)/);
  expect(content).toHaveLength(1);
  expect(structured).toMatchObject({ kind: 'binary', size: bytes.length });
  expect(structured.content).toBeUndefined();
});

describe('UTF-16 with a byte order mark', () => {
  const encode = (text: string, encoding: string) => {
    const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
    return encoding === 'utf-16be' ? bytes.swap16() : bytes;
  };

  test.each(['utf-16le', 'utf-16be'])('%s is shown as text', async (encoding) => {
    put('wide.txt', encode('één\r\n日本 😀\r\nthree', encoding));
    const { text, structured } = await call('read', { file_path: 'wide.txt' });
    expect(text).toBe(`1\téén\n2\t日本 😀\n3\tthree\n\n(${encoding.toUpperCase()}; an edit keeps it)\n`);
    expect(structured).toMatchObject({ kind: 'text', encoding, totalLines: 3, truncated: false });
    expect(structured.content).toBe('1\téén\n2\t日本 😀\n3\tthree\n');
    expect((await call('read', { file_path: 'wide.txt', offset: 2, limit: 1 })).text).toMatch(/^2\t日本 😀\n/);
  });

  test.each(['utf-16le', 'utf-16be'])('%s is shown in part when it is large', async (encoding) => {
    put('wide-large.txt', encode('é line of text\r\n'.repeat(200_000), encoding));
    const { text, structured } = await call('read', { file_path: 'wide-large.txt', offset: 150_000, limit: 2 });
    expect(text).toMatch(/^150000\té line of text\n150001\té line of text\n\(lines/);
    expect(structured).toMatchObject({ kind: 'text', encoding, startLine: 150_000 });
  });

  test('with errors is shown as far as it can be read', async () => {
    put('wide-broken.txt', Buffer.concat([encode('ok \ud800 ok\n', 'utf-16le'), Buffer.from('x')]));
    const { text } = await call('read', { file_path: 'wide-broken.txt' });
    expect(text).toMatch(/^1\tok \uFFFD ok\n\n\(not valid UTF-16: .*edit refuses the file\)\n$/);
  });
});

test('shows text in a file with the name of an image', async () => {
  put('fake.png', 'not a picture\n');
  expect(await call('read', { file_path: 'fake.png' })).toMatchObject({ text: '1\tnot a picture\n' });
});

test('sees text that another program appended', async () => {
  put('growing.txt', 'one\n');
  await call('read', { file_path: 'growing.txt' });
  appendFileSync(at('growing.txt'), 'two\n');
  expect((await call('read', { file_path: 'growing.txt' })).text).toBe('1\tone\n2\ttwo\n');
  truncateSync(at('growing.txt'), 0);
  expect((await call('read', { file_path: 'growing.txt' })).text).toBe('growing.txt is an empty file\n');
});
