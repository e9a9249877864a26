import { expect, test } from 'vitest';
import { countParameters } from './find-misfit-calls.ts';

test.each([
  ['function add(a: number, b = 1)', 1, 2],
  ['add(a?: string, ...rest: Map<string, number>[])', 0, Number.POSITIVE_INFINITY],
  ['def add(self, a, *, b=2, **more)', 1, Number.POSITIVE_INFINITY],
  ['func (s *Server) add(a, b int) error', 2, 2],
  ['fn add(&mut self, a: (u8, u8))', 1, 1],
  ['async add<T>(text = "a, b)")', 0, 1],
  ['add()', 0, 0],
])('%s takes %d to %d arguments', (signature, least, most) => {
  expect(countParameters(signature, 'add')).toEqual({ least, most });
});

test('a signature without a list after the name has no count', () => {
  expect(countParameters('const other = (a) =>', 'add')).toBeUndefined();
});
