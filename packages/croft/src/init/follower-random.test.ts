import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { createMirror, expectSame, findFollowers } from '../../test/support/tree-mirror.ts';
import { findInit } from './find-init.ts';
import type { Follower } from './followed-tree.ts';
import { createFollower } from './follower.ts';

const whole = createFollower(findInit);
const limited = createFollower(findInit, { paths: 3, watches: 5 });
const starved = [0, 1, 3, 6].map((watches) => createFollower(findInit, { watches }));

const name = fc.constantFrom('a', 'b', 'c');
const somewhere = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const two = fc.record({ from: somewhere, to: somewhere });
const step = fc.oneof(
  fc.record({ act: fc.constant('write' as const), from: somewhere, to: fc.string({ maxLength: 3 }) }),
  fc.record({ act: fc.constant('append' as const), from: somewhere, to: fc.string({ minLength: 1, maxLength: 3 }) }),
  fc.record({ act: fc.constant('chmod' as const), from: somewhere, to: fc.constantFrom('700', '755', '640') }),
  fc.record({ act: fc.constant('mkdir' as const), from: somewhere, to: fc.constant('') }),
  fc.record({ act: fc.constantFrom('remove' as const, 'rmdir' as const), from: somewhere, to: fc.constant('') }),
  two.map((both) => ({ act: 'rename' as const, ...both })),
  two.map((both) => ({ act: 'rename' as const, ...both })),
  two.map((both) => ({ act: 'link' as const, ...both })),
  two.map((both) => ({ act: 'symlink' as const, ...both })),
  two.map((both) => ({ act: 'out' as const, ...both })),
  two.map((both) => ({ act: 'in' as const, ...both })),
  fc.record({ act: fc.constant('take' as const), from: somewhere, to: fc.constant('') }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function act(root: string, outside: string, { act, from, to }: Step): void {
  const at = join(root, from);
  if (act === 'write') fs.writeFileSync(at, to);
  if (act === 'append') fs.appendFileSync(at, to);
  if (act === 'chmod') fs.chmodSync(at, Number.parseInt(to, 8));
  if (act === 'mkdir') fs.mkdirSync(at, { recursive: true });
  if (act === 'remove') fs.rmSync(at, { recursive: true });
  if (act === 'rmdir') fs.rmdirSync(at);
  if (act === 'rename') fs.renameSync(at, join(root, to));
  if (act === 'link') fs.linkSync(at, join(root, to));
  if (act === 'symlink') fs.symlinkSync(from, join(root, to));
  if (act === 'out') fs.renameSync(at, join(outside, 'kept'));
  if (act === 'in') fs.renameSync(join(outside, 'kept'), at);
}

async function attempt(by: Follower, steps: readonly Step[]): Promise<void> {
  using root = makeDirectory();
  using outside = makeDirectory();
  const handle = fs.openSync(root.path, 'r');
  const following = await by.open(handle);
  const before = findFollowers();
  try {
    const mirror = createMirror(following);
    for (const each of [...steps, { act: 'take', from: '', to: '' } as const]) {
      try {
        act(root.path, outside.path, each);
      } catch (thrown) {
        if (!(thrown instanceof Error && 'syscall' in thrown)) throw thrown;
      }
      // Changes made through a name that comes and goes between two takes are invisible to the follower.
      if (each.act !== 'take' && each.act !== 'link') continue;
      await mirror.take();
      expectSame(mirror.entries, root.path);
    }
    expect(findFollowers()).toEqual(before);
  } finally {
    following.close();
    fs.closeSync(handle);
  }
}

test('the sum of the answers equals the tree, after any steps in between', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => attempt(whole, steps)),
    { numRuns: 150 },
  );
});

test('the sum of the answers equals the tree with few watches and a small memory for changes', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => attempt(limited, steps)),
    { numRuns: 60 },
  );
});

test('the sum of the answers equals the tree if directories without a watch are polled', {
  timeout: 240_000,
}, async () => {
  for (const by of starved)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => attempt(by, steps)),
      { numRuns: 60 },
    );
});
