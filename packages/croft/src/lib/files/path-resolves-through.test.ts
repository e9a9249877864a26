import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { pathResolvesThrough } from './path-resolves-through.ts';

function makeFixture() {
  const fixture = makeDirectory({ 'workspace/in/a': '', 'other/a': '', 'secret/a': '' });
  onTestFinished(() => fixture[Symbol.dispose]());
  return fixture;
}

test('a path in the directory passes through it, and a neighbour with a longer name does not', () => {
  const { at } = makeFixture();
  mkdirSync(at('workspace-2'));
  expect(pathResolvesThrough(at('workspace'), at('workspace'))).toBe(true);
  expect(pathResolvesThrough(at('workspace/in/a'), at('workspace'))).toBe(true);
  expect(pathResolvesThrough(at('workspace-2'), at('workspace'))).toBe(false);
  expect(pathResolvesThrough(at('other/a'), at('workspace'))).toBe(false);
});

test('links count at every step, also if the path leads out again', () => {
  const { at } = makeFixture();
  symlinkSync(at('secret'), at('workspace/out'));
  symlinkSync(at('workspace/out'), at('absolute'));
  symlinkSync('../workspace/../workspace/out', at('other/relative'));
  symlinkSync('other/../secret', at('around'));
  expect(pathResolvesThrough(at('absolute/a'), at('workspace'))).toBe(true);
  expect(pathResolvesThrough(at('other/relative/a'), at('workspace'))).toBe(true);
  expect(pathResolvesThrough(at('around/a'), at('workspace'))).toBe(false);
});

test('endless links do not get around the check', () => {
  const { at } = makeFixture();
  symlinkSync('b', at('a'));
  symlinkSync('a', at('b'));
  expect(pathResolvesThrough(at('a'), at('workspace'))).toBe(true);
});
