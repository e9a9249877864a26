import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { native } from '../support/sandboxes/native-sources.ts';

/** Every sandbox waits for this search, and most of its time is system calls. */
test('the search for control files asks for the names of git only in directories that may be git’s', () => {
  using fixture = makeDirectory({ 'work/bare/HEAD': '', 'work/bare/config': '' });
  for (const name of ['objects', 'refs', 'hooks']) mkdirSync(fixture.at(`work/bare/${name}`));
  for (let i = 0; i < 300; i++) mkdirSync(fixture.at(`work/plain/${i}/src`), { recursive: true });
  const sources = [
    join(import.meta.dirname, '../fixtures/walk-check.c'),
    ...globSync('init/control-files/*.c', { cwd: native }).map((name) => join(native, name)),
  ];
  const wraps = ['-pthread', '-Wl,--wrap=faccessat', '-Wl,--wrap=fstatat'];
  execFileSync('cc', ['-O1', '-w', '-iquote', native, ...wraps, '-o', fixture.at('check'), ...sources]);
  const [asked, repositories] = execFileSync(fixture.at('check'), [fixture.at('work')], { encoding: 'utf8' }).split(
    ' ',
  );
  expect(Number(repositories)).toBe(1);
  // One question for each of the 600 plain directories, and a few in the one that is git’s.
  expect(Number(asked)).toBeLessThan(700);
});
