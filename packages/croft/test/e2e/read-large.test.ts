import { appendFileSync, truncateSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { codeOf, messageOf, peakMegabytes, shareServer } from './shared-server.ts';

const { at, call, put } = shareServer();

const megabyte = 1024 * 1024;

/** Follows the notes until there are no more. Returns the shown lines. */
async function readOn(file_path: string): Promise<string[]> {
  const lines: string[] = [];
  for (let offset: number | undefined = 1; offset !== undefined; ) {
    const { text, isError } = await call('read', { file_path, offset });
    expect(isError).toBe(false);
    const note = /^\(.*read on with offset: (\d+)\)$/m.exec(text);
    const body: string = note ? text.slice(0, note.index) : text;
    lines.push(...body.split('\n').slice(0, -1));
    offset = note ? Number(note[1]) : undefined;
  }
  return lines;
}

/** The same for a line that was cut. Answers the line. */
async function readAcross(file_path: string, offset: number): Promise<string> {
  let line = '';
  for (let column: number | undefined = 1; column !== undefined; ) {
    const { text } = await call('read', { file_path, offset, limit: 1, column });
    const [row = ''] = text.split('\n');
    const cut = /… \(characters .*; read on with offset: (\d+), limit: 1, column: (\d+)\)$/.exec(row);
    expect(row.isWellFormed()).toBe(true);
    line += row.slice(row.indexOf('\t') + 1, cut ? cut.index : undefined);
    if (cut) expect(cut[1]).toBe(String(offset));
    column = cut ? Number(cut[2]) : undefined;
  }
  return line;
}

describe('a long file', () => {
  test('is cut at 1900 lines with a note that leads through the rest', async () => {
    const lines = Array.from({ length: 4500 }, (_, index) => `line ${index + 1}`);
    put('long.txt', `${lines.join('\n')}\n`);
    const { text, structured } = await call('read', { file_path: 'long.txt' });
    expect(text).toContain('\n1900\tline 1900\n');
    expect(text).not.toContain('1901\t');
    expect(structured).toMatchObject({ startLine: 1, endLine: 1900, totalLines: 4500, truncated: true });
    expect(await readOn('long.txt')).toEqual(lines.map((line, index) => `${index + 1}\t${line}`));
  });

  test('of long lines is cut by size, and the note leads through the rest', async () => {
    const lines = Array.from({ length: 1500 }, (_, index) => `${index} ${'w'.repeat(1000)}`);
    put('wide.txt', lines.join('\n'));
    const { text } = await call('read', { file_path: 'wide.txt' });
    expect(text.length).toBeLessThan(40_000);
    expect(await readOn('wide.txt')).toEqual(lines.map((line, index) => `${index + 1}\t${line}`));
  });

  test('is shown to its last line without a note', async () => {
    put('exactly.txt', 'x\n'.repeat(1900));
    const { text, structured } = await call('read', { file_path: 'exactly.txt' });
    expect(text.endsWith('1900\tx\n')).toBe(true);
    expect(structured.truncated).toBe(false);
  });
});

describe('a long line', () => {
  test.each([
    ['letters', 'abcdefghij'.repeat(1000)],
    ['letters and a character of two units where it is cut', `${'x'.repeat(1999)}${'😀'.repeat(1500)}`],
  ])('of %s is cut with a note that leads through the rest', async (_, line) => {
    put('line.txt', `short\n${line}\nlast\n`);
    const { text } = await call('read', { file_path: 'line.txt' });
    expect(text.length).toBeLessThan(3000);
    expect(text).toMatch(/\n3\tlast\n$/);
    expect(await readAcross('line.txt', 2)).toBe(line);
  });

  test('is marked as cut for programs, whatever its length', async () => {
    for (let length = 2001; length < 2100; length++) {
      put('alone.txt', 'y'.repeat(length));
      const { structured } = await call('read', { file_path: 'alone.txt' });
      expect(structured, `a line of ${length}`).toMatchObject({ truncated: true });
    }
  });

  test('is cut for programs too', async () => {
    put('minified.js', 'm'.repeat(3 * megabyte));
    const { structured } = await call('read', { file_path: 'minified.js' });
    expect(JSON.stringify(structured).length).toBeLessThan(100_000);
  });
});

describe('a file too large to hold', () => {
  const line = `${'l'.repeat(98)}\n`;
  const lineCount = Math.ceil((18 * megabyte) / line.length);

  test('is read by line numbers at its start, in the middle and at its end', async () => {
    put('large.txt', line.repeat(lineCount));
    appendFileSync(at('large.txt'), 'the end\n');
    for (const offset of [1, 90_000, lineCount - 1]) {
      const { text } = await call('read', { file_path: 'large.txt', offset, limit: 1 });
      expect(text.split('\n')[0]).toBe(`${offset}\t${line.trimEnd()}`);
      expect(text).toContain(`read on with offset: ${offset + 1}`);
    }
    const last = await call('read', { file_path: 'large.txt', offset: lineCount });
    expect(last.text).toBe(`${lineCount}\t${line}${lineCount + 1}\tthe end\n`);
    const past = await call('read', { file_path: 'large.txt', offset: lineCount + 2 });
    expect(messageOf(past)).toBe(`read: offset ${lineCount + 2} exceeds line count ${lineCount + 1}`);
  });

  test('of valid UTF-8 is not called invalid because of a cut', async () => {
    put('unicode.txt', `a${'é'.repeat(9 * megabyte)}\n`);
    const { text } = await call('read', { file_path: 'unicode.txt' });
    expect(text).not.toContain('not valid UTF-8');
  });

  test('with a single line is read to its end by column', async () => {
    put('one-line.txt', `${'o'.repeat(18 * megabyte)}END`);
    const { text } = await call('read', { file_path: 'one-line.txt', column: 18 * megabyte + 1 });
    expect(text.split('\n')[0]).toBe('1\tEND');
  });

  test.each([
    ['a window at its start', { offset: 500, limit: 2 }, `500\t${line}501\t${line}`],
    ['an offset past its end', { offset: 5000 }, 'offset 5000 exceeds line count 1001'],
  ])('of 400 MB takes little memory for %s', async (_, window, text) => {
    using directory = makeDirectory({ 'sparse.txt': line.repeat(1000) });
    truncateSync(directory.at('sparse.txt'), 400 * megabyte);
    await using session = await connectStdio(['--workspace', directory.path]);
    await session.call('read', { file_path: 'sparse.txt', limit: 1 });
    const before = peakMegabytes(session);
    expect((await session.call('read', { file_path: 'sparse.txt', ...window })).text).toContain(text);
    expect(peakMegabytes(session) - before).toBeLessThan(150);
  });

  test('is answered in limited size, whatever it holds', async () => {
    using directory = makeDirectory({ 'hole.txt': 'x\n'.repeat(5000) });
    truncateSync(directory.at('hole.txt'), 100 * megabyte);
    // A client closes the connection over a message that is too long.
    await using session = await connectStdio(['--workspace', directory.path]);
    const { text, structured } = await session.call('read', { file_path: 'hole.txt', offset: 5001 });
    expect(text.length + JSON.stringify(structured).length).toBeLessThan(megabyte);
  });

  test.each([3, 18])('of %i MB of empty lines is answered in limited size, whatever the limit', async (size) => {
    put('lines.txt', '\n'.repeat(size * megabyte));
    const { text, structured } = await call('read', { file_path: 'lines.txt', limit: 1e9 });
    expect(text.length + JSON.stringify(structured).length).toBeLessThan(80_000);
    expect(text).toMatch(/read on with offset: \d{4}\)\n$/);
  });

  test('with an endless line is given up after half a minute', async () => {
    put('endless.txt', 'x'.repeat(9000));
    truncateSync(at('endless.txt'), 4096 * 1024 * megabyte);
    expect(codeOf(await call('read', { file_path: 'endless.txt' }))).toBe('E_TIMEOUT');
  });

  test('is refused for an edit as too large', async () => {
    put('huge.txt', 'first\n'.repeat(2000));
    truncateSync(at('huge.txt'), 65 * megabyte);
    await call('read', { file_path: 'huge.txt', limit: 1 });
    expect(codeOf(await call('edit', { file_path: 'huge.txt', old_string: 'a', new_string: 'b' }))).toBe('E_TOO_LARGE');
  });
});
