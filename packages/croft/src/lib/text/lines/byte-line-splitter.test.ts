import { expect, test, vi } from 'vitest';
import { createByteLineSplitter } from './byte-line-splitter.ts';

test('a line that comes in small pieces is not copied again for each piece', () => {
  const lines: string[] = [];
  const cut = createByteLineSplitter(1_000_000, (line) => lines.push(line.toString()), vi.fn());
  const concat = vi.spyOn(Buffer, 'concat');
  for (let index = 0; index < 20_000; index += 1) cut(Buffer.from('x'));
  cut(Buffer.from('\nrest'));
  const copied = concat.mock.calls.flatMap(([pieces]) => pieces).reduce((sum, { length }) => sum + length, 0);
  const held = Math.max(...concat.mock.calls.map(([pieces]) => pieces.length));
  concat.mockRestore();
  expect(lines).toEqual(['x'.repeat(20_000)]);
  expect(copied).toBeLessThan(1_000_000);
  // Each piece takes far more memory than its single byte.
  expect(held).toBeLessThan(2000);
});
