import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import { findInit } from '../../src/init/find-init.ts';
import { createFollower } from '../../src/init/follower.ts';
import { materialize, onDisk, prepareTree, type Spec } from './trees.ts';
import { createWalkingFollower } from './walking-follower.ts';

const names = [
  'a',
  'b',
  'a-b',
  'c.txt',
  '-rf',
  ' ',
  'new\nline',
  'back\\slash',
  'é',
  '\xc3\xa9',
  '\xff\xfe',
  '.gitignore',
];
// What the kernel is given are bytes: `é` of one byte is no UTF-8.
const name = fc.constantFrom(...names);

const { directory } = fc.letrec<{ node: Spec; directory: Record<string, Spec> }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('file' as const),
      text: fc.constantFrom('', 'one', 'two', 'x'.repeat(5000)),
      mode: fc.constantFrom(0o644, 0o755, 0o600),
    }),
    fc.record({ kind: fc.constant('link' as const), target: fc.constantFrom('a', '../../..', '/etc/passwd', 'gone') }),
    fc.record({
      kind: fc.constant('directory' as const),
      mode: fc.constantFrom(0o755, 0o700),
      children: tie('directory'),
    }),
  ),
  directory: fc.dictionary(name, tie('node'), { maxKeys: 5 }),
}));

test.each([
  ['by looking at everything', createWalkingFollower],
  ['by following', () => createFollower(findInit)],
])(
  'trees have the same hash if and only if they are equal, and a diff can be applied and reverted: %s',
  async (_, follow) => {
    const fixture = prepareTree();
    const tree = await fixture.open(follow());
    const known = new Map<string, string>();
    const see = async () => {
      const { root, missed, late: _, cutRules: _rules, ...totals } = await tree.capture({ scope: 'all' });
      expect(missed).toEqual([]);
      const all = await Array.fromAsync(tree.entries(root));
      const leaves = all.flatMap(({ entry }) => (entry.kind === 'directory' ? [] : [entry.size]));
      expect(totals).toEqual({ files: leaves.length, bytes: leaves.reduce((sum, size) => sum + size, 0) });
      const disk = JSON.stringify(Object.entries(onDisk(fixture.path)).sort());
      expect(known.get(root) ?? disk).toBe(disk);
      known.set(root, disk);
      expect(new Set(known.values()).size).toBe(known.size);
      return root;
    };
    const check = async (one: Record<string, Spec>, other: Record<string, Spec>) => {
      materialize(fixture.path, other);
      const after = await see();
      const wanted = onDisk(fixture.path);
      materialize(fixture.path, one);
      const before = await see();
      const was = onDisk(fixture.path);
      const changes = await tree.diff(before, after);
      expect(changes.length === 0).toBe(before === after);

      expect(await tree.amend(before, changes)).toBe(after);
      expect(await tree.apply(changes)).toEqual({ refused: [] });
      expect(onDisk(fixture.path)).toEqual(wanted);
      expect(await see()).toBe(after);

      const back = changes.map(({ path, before: old, after: fresh }) => ({ path, before: fresh, after: old }));
      expect(await tree.amend(after, back)).toBe(before);
      expect(await tree.apply(back)).toEqual({ refused: [] });
      expect(onDisk(fixture.path)).toEqual(was);
      expect(await see()).toBe(before);
      const all = await Array.fromAsync(tree.entries(before));
      expect(
        await tree.amend(
          emptyTreeHash,
          all.map(({ path, entry }) => ({ path, after: entry })),
        ),
      ).toBe(
        await tree.amend(
          emptyTreeHash,
          (await tree.diff(emptyTreeHash, before)).filter(
            ({ after: entry }) => entry?.kind !== 'directory' || entry.hash === emptyTreeHash,
          ),
        ),
      );
    };
    await fc.assert(fc.asyncProperty(directory, directory, check), { numRuns: 40 });
  },
  120_000,
);
