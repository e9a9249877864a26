import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { pathPassesThrough } from './path-passes-through.ts';

function makeFixture() {
  const fixture = makeDirectory({ 'workspace/in/a': '', 'other/a': '', 'secret/a': '' });
  onTestFinished(() => fixture[Symbol.dispose]());
  return fixture;
}

test('a path in the directory passes through it, and a neighbour with a longer name does not', () => {
  const { at } = makeFixture();
  mkdirSync(at('workspace-2'));
  expect(pathPassesThrough(at('workspace'), at('workspace'))).toBe(true);
  expect(pathPassesThrough(at('workspace/in/a'), at('workspace'))).toBe(true);
  expect(pathPassesThrough(at('workspace-2'), at('workspace'))).toBe(false);
  expect(pathPassesThrough(at('other/a'), at('workspace'))).toBe(false);
});

test('links count at every step, also if the path leads out again', () => {
  const { at } = makeFixture();
  symlinkSync(at('secret'), at('workspace/out'));
  symlinkSync(at('workspace/out'), at('absolute'));
  symlinkSync('../workspace/../workspace/out', at('other/relative'));
  symlinkSync('other/../secret', at('around'));
  expect(pathPassesThrough(at('absolute/a'), at('workspace'))).toBe(true);
  expect(pathPassesThrough(at('other/relative/a'), at('workspace'))).toBe(true);
  expect(pathPassesThrough(at('around/a'), at('workspace'))).toBe(false);
});

test('endless links do not get around the check', () => {
  const { at } = makeFixture();
  symlinkSync('b', at('a'));
  symlinkSync('a', at('b'));
  expect(pathPassesThrough(at('a'), at('workspace'))).toBe(true);
});
