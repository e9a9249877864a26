import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diagrams } from '../fixtures/diagrams/sources.ts';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { readPng } from '../support/read-png.ts';
import { codeOf } from './shared-server.ts';

const directory = makeDirectory();
symlinkSync('/etc', directory.at('way-out'));
const { at } = directory;
let session: McpSession;
beforeAll(async () => {
  session = await connectStdio(['--workspace', directory.path], { era: '2026' });
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const flowchart = diagrams.flowchart?.[1] ?? '';
const render = (output_path: string, more: object = {}) =>
  session.call('render_mermaid', { source: flowchart, output_path, ...more });

describe.each(Object.entries(diagrams))('%s', (name, [language, source]) => {
  test('is a PNG of the right size, and not black', async () => {
    const file = `${name}.png`;
    // Calls through `tools`, as a client that calls only listed tools.
    const answer = await session.call('tools', {
      name: `render_${language}`,
      arguments: { source, output_path: file },
    });
    expect(answer.isError, answer.text).toBe(false);
    const written = readFileSync(at(file));
    expect(answer.text).toBe(`wrote ${written.length} bytes to ${file} (png)`);
    expect(answer.content[1]).toEqual({ type: 'image', data: written.toString('base64'), mimeType: 'image/png' });
    const { width, height, colors } = readPng(written);
    const golden = readFileSync(new URL(`../fixtures/diagrams/${name}.golden`, import.meta.url), 'utf8');
    const [, drawnWidth, drawnHeight] = /viewBox="\S+ \S+ (\S+) (\S+)"/.exec(golden) ?? [];
    // Graphviz counts in points: 96 pixels are 72 of them.
    const scale = language === 'dot' ? (2 * 96) / 72 : 2;
    expect(Math.abs(width - Number(drawnWidth) * scale)).toBeLessThan(2);
    expect(Math.abs(height - Number(drawnHeight) * scale)).toBeLessThan(2);
    const dark = [...colors].filter(([color]) => /^#[0-4].[0-4].[0-4].$/.test(color));
    expect(dark.reduce((sum, [, count]) => sum + count, 0) / (width * height)).toBeLessThan(0.2);
    expect(colors.get('#ffffff')).toBeGreaterThan(width * height * 0.3);
    expect(colors.size).toBeGreaterThan(5);
    if (source.includes('#ff9966')) expect(colors.get('#ff9966')).toBeGreaterThan(100);
  });
});

test('an SVG and a PDF are written, and answered as an image too', async () => {
  const svg = await render('made/a.SVG');
  expect(svg.text).toBe(`wrote ${readFileSync(at('made/a.SVG')).length} bytes to made/a.SVG (svg)`);
  const pdf = await render('made/a.pdf');
  expect([svg, pdf].map(({ content }) => content[1]?.mimeType)).toEqual(['image/png', 'image/png']);
  const { width, height, colors } = readPng(Buffer.from(String(pdf.content[1]?.data), 'base64'));
  const bytes = readFileSync(at('made/a.pdf'));
  const text = bytes.toString('latin1');
  expect(text).toMatch(/^%PDF-1\.4\n/);
  const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const rows = [...text.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
  expect(rows.map((offset) => text.slice(offset, offset + 5))).toEqual(['1 0 o', '2 0 o', '3 0 o', '4 0 o', '5 0 o']);
  expect(text).toContain(`/Width ${width} /Height ${height} `);
  const start = text.indexOf('stream\n', rows[4]) + 'stream\n'.length;
  const pixels = inflateSync(bytes.subarray(start));
  expect(pixels.length).toBe(width * height * 3);
  expect(colors.get(`#${pixels.subarray(0, 3).toString('hex')}`)).toBeGreaterThan(0);
});

describe('an existing file', () => {
  test('has to be read before it is overwritten, and can be overwritten again afterwards', async () => {
    writeFileSync(at('old.svg'), '<svg/>');
    expect(codeOf(await render('old.svg'))).toBe('E_NOT_READ');
    expect(readFileSync(at('old.svg'), 'utf8')).toBe('<svg/>');
    await session.call('read', { file_path: 'old.svg' });
    for (const _ of [1, 2]) expect((await render('old.svg')).isError).toBe(false);
    expect((await session.call('undo', { calls: 2 })).isError).toBe(false);
    expect(readFileSync(at('old.svg'), 'utf8')).toBe('<svg/>');
  });

  const slow = `graph TD\n${Array.from({ length: 600 }, (_, index) => `N${index} --> N${(index * 7) % 600}`).join('\n')}`;

  test.each([
    [
      'a source that is not right',
      { source: 'graph TD\n A[x --> B' },
      'E_INVALID_INPUT',
      'render_mermaid: line 2: [ is not closed',
    ],
    ['a kind that needs a browser', { source: 'gantt\n title x' }, 'E_INVALID_INPUT', 'Chromium'],
    ['the deadline', { source: slow, timeout: 1 }, 'E_TIMEOUT', 'render_mermaid: timed out after 1s'],
    [
      'a source that is too large',
      { source: `graph TD\n%%${'x'.repeat(1024 * 1024)}` },
      'E_TOO_LARGE',
      'source 1048587 bytes exceeds cap 1048576',
    ],
    ['no source', { source: '' }, 'E_INVALID_INPUT', 'source is required'],
  ])('is unchanged after %s', async (_, more, code, reason) => {
    writeFileSync(at('kept.svg'), 'kept');
    await session.call('read', { file_path: 'kept.svg' });
    const answer = await render('kept.svg', more);
    expect([codeOf(answer), answer.text]).toEqual([code, expect.stringContaining(reason)]);
    expect(readFileSync(at('kept.svg'), 'utf8')).toBe('kept');
  });
});

test.each([
  ['a.jpeg', 'unsupported output extension ".jpeg"; supported: .svg, .png, .pdf'],
  ['a', 'unsupported output extension ""; supported: .svg, .png, .pdf'],
  ['folder.svg', 'output_path is a directory: folder.svg'],
  ['../out.svg', 'path is outside workspace root'],
  ['/etc/out.svg', 'path is outside workspace root'],
  ['way-out/out.svg', 'path is outside workspace root'],
])('%s is refused', async (path, reason) => {
  mkdirSync(at('folder.svg'), { recursive: true });
  const answer = await render(path);
  expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining(reason)]);
  expect(existsSync(at(path)) && path !== 'folder.svg').toBe(false);
});
