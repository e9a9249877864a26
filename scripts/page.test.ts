import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { findExcess } from './page.ts';

const document = '<script src="/assets/index-1.js"></script><link href="/assets/index-1.css">';
const noise = (bytes: number) => randomBytes(bytes).toString('latin1');
const files = (script: string, style = '') => [
  { name: 'index-1.js', text: script },
  { name: 'index-1.css', text: style },
];

test('a small page is within the budget, and what opens later does not count', () => {
  const later = { name: 'screen-1.js', text: noise(200_000) };
  expect(findExcess(document, [...files('const a = 1;'), later])).toEqual([]);
});

test('too much JavaScript, too much CSS, too many files', () => {
  expect(findExcess(document, files(noise(61_000)))).toEqual([expect.stringMatching(/^JavaScript .* at most 60000$/)]);
  expect(findExcess(document, files('', noise(13_000)))).toEqual([expect.stringMatching(/^CSS .* at most 12000$/)]);
  const many = Array.from({ length: 5 }, (_, index) => ({ name: `part-${index}.js`, text: '' }));
  const all = many.map(({ name }) => `/assets/${name}`).join(' ');
  expect(findExcess(all, many)).toEqual(['requests of the first visit: 6, at most 5']);
});

test('another host is refused wherever it is named', () => {
  const host = ['https:', '', 'cdn.example.org', 'x.js'].join('/');
  expect(findExcess(document, files(`import('${host}')`))).toEqual([`the page names another host: ${host}`]);
  expect(findExcess(`<img src="${host}">`, [])).toHaveLength(1);
  expect(findExcess(document, files('"http://www.w3.org/2000/svg"'))).toEqual([]);
});
