import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../harness.ts';

test('a filter that is read by halves answers what its rules say one after the other', () => {
  using ground = makeDirectory();
  const native = join(import.meta.dirname, '../../native');
  const sources = [join(import.meta.dirname, '../fixtures/filter-check.c'), join(native, 'filter.c')];
  execFileSync('cc', ['-O1', '-iquote', native, '-o', ground.at('check'), ...sources]);
  expect(execFileSync(ground.at('check'), { encoding: 'utf8' })).toBe('');
});
