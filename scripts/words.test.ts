import { expect, test } from 'vitest';
import { findProblems } from './words.ts';

test('a type name that two files export is refused', () => {
  const sources = [
    { file: 'a/one.ts', text: 'export interface Thing {\n}\nexport type Other = string;' },
    { file: 'b/two.ts', text: 'export type Thing = number;\ninterface Other {}' },
  ];
  expect(findProblems(sources)).toEqual(['the type Thing is exported by a/one.ts and b/two.ts']);
});

test.each([
  ['a/b.ts', 'const settle = 1;'],
  ['a/b.ts', 'export function createGround() {}'],
  ['a/b.ts', 'interface RuntimeMeans {}'],
  ['a/furnish.ts', ''],
])('%s with %j uses a retired word', (file, text) => {
  expect(findProblems([{ file, text }])).toHaveLength(1);
});

test('a retired word inside another word, or in a text, is accepted', () => {
  const text = "// settle\nconst unsettled = 'ground';\nfunction backgroundCommands() {}";
  expect(findProblems([{ file: 'a/b.ts', text }])).toEqual([]);
});
