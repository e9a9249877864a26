import { expect, test } from 'vitest';
import { parseCodeQuery } from './parse-code-query.ts';
import { splitWords, toSingular } from './split-words.ts';

test.each([
  ['parseConfig', ['parse', 'config']],
  ['HTTPServer', ['http', 'server']],
  ['http2_old-name', ['http', '2', 'old', 'name']],
  ['XMLHttpRequest', ['xml', 'http', 'request']],
  ['größeÄndern 文字', ['größe', 'ändern', '文字']],
  ['', []],
])('%s has the words %j', (text, words) => expect(splitWords(text)).toEqual(words));

test.each([
  ['files', 'file'],
  ['entries', 'entry'],
  ['matches', 'match'],
  ['class', 'class'],
  ['status', 'status'],
  ['ties', 'tie'],
  ['bus', 'bus'],
])('the singular of %s is %s', (word, singular) => expect(toSingular(word)).toBe(singular));

test('a query has terms without the words of a question, each with its other forms', () => {
  const { terms } = parseCodeQuery('where is the config of the servers parsed?');
  expect(terms.map(({ forms }) => forms[0])).toEqual(['config', 'server', 'parsed']);
  expect(terms[0]?.forms).toEqual(['config', 'cfg', 'configuration']);
});

test('a query of nothing but question words keeps those words', () => {
  expect(parseCodeQuery('with').terms).toEqual([{ forms: ['with'], isLiteral: false }]);
});

test('text in quotes is one literal term', () => {
  expect(parseCodeQuery('"not found: " error').terms).toEqual([
    { forms: ['not found: '], isLiteral: true },
    { forms: ['error', 'err'], isLiteral: false },
  ]);
});

test.each(['', '  ', '?!', '""'])('%j has no word', (query) => {
  expect(() => parseCodeQuery(query)).toThrow('it has no word to look for');
});
