import { expect, test } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

test('one entry too many drops the entry that was set longest ago', () => {
  const dropped: string[] = [];
  const map = new BoundedMap<string, number>(2, (value, key) => dropped.push(`${key}=${value}`));
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
  expect(dropped).toEqual(['b=2']);
});

test('setting an entry again drops no other', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('b', 3);
  expect([...map.keys()]).toEqual(['a', 'b']);
});

test('a falsy key can be dropped too', () => {
  const map = new BoundedMap<string, number>(1).set('', 1).set('b', 2);
  expect([...map.keys()]).toEqual(['b']);
});
