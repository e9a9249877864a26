import { expect, test } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

test('the entry that was set longest ago is dropped for one too many', () => {
  const dropped: string[] = [];
  const map = new BoundedMap<string, number>(2, (value, key) => dropped.push(`${key}=${value}`));
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
  expect(dropped).toEqual(['b=2']);
});

test('an entry that is set again drops no other', () => {
  const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('b', 3);
  expect([...map.keys()]).toEqual(['a', 'b']);
});

test('a falsy key is dropped like any other', () => {
  const map = new BoundedMap<string, number>(1).set('', 1).set('b', 2);
  expect([...map.keys()]).toEqual(['b']);
});
