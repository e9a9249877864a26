import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { native } from '../support/sandboxes/native-sources.ts';

test('a filter that is searched by halves gives the same as its rules in order', () => {
  using fixture = makeDirectory();
  const sources = [join(import.meta.dirname, '../fixtures/filter-check.c'), join(native, 'init/bpf-builder.c')];
  execFileSync('cc', ['-O1', '-iquote', native, '-o', fixture.at('check'), ...sources]);
  expect(execFileSync(fixture.at('check'), { encoding: 'utf8' })).toBe('');
});
