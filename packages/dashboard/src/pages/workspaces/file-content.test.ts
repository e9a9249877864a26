import { expect, test } from 'vitest';
import { toFileContent } from './file-content.ts';

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;

test.each([
  ['a\nb\n', 'LF', ['a', 'b']],
  ['a\r\nb\r\n', 'CRLF', ['a', 'b']],
  ['a\r\nb\n', 'mixed', ['a', 'b']],
  ['', 'LF', []],
])('%j has the line end %s', (text, lineEnd, lines) => {
  expect(toFileContent(bytes(text), text.length, 'a.txt')).toMatchObject({
    kind: 'text',
    lineEnd,
    lines,
    isCut: false,
  });
});

test('bytes are binary, Latin-1 is not UTF-8, an SVG is text, pixels are an image', () => {
  expect(toFileContent(new Uint8Array([1, 0, 2]), 3, 'a')).toMatchObject({ kind: 'binary', size: 3 });
  expect(toFileContent(new Uint8Array([0x47, 0xfc]), 2, 'a')).toMatchObject({ kind: 'not-utf8' });
  expect(toFileContent(bytes('<svg onload="alert(1)"/>'), 24, 'a.svg')).toMatchObject({ kind: 'text' });
  expect(toFileContent(new Uint8Array([0x89, 0x50]), 2, 'a.PNG')).toMatchObject({ kind: 'image' });
});

test('a file that was cut in the middle of a character is text', () => {
  const start = bytes('größe').subarray(0, 3) as Uint8Array<ArrayBuffer>;
  expect(toFileContent(start, 9_000_000, 'a.txt')).toMatchObject({ kind: 'text', lines: ['gr'], isCut: true });
});
