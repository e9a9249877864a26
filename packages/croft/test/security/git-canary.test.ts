import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deed } from './git-canary-actor.ts';
import { commonTargets, layouts } from './git-canary-attacks.ts';
import { makePerson } from './git-canary-fixture.ts';
import { openWorkspaces } from './git-workspaces.ts';

/**
 * A person keeps working in a tree in which an agent plants canaries, in every place from which git runs programs. No
 * canary may run. `git-canary-control.test.ts` shows that each would, `git-canary-ways.test.ts` tries each way alone.
 */

const runs = process.env.CROFT_SEED === 'random' ? 60 : 6;

const plan = fc.record({
  kinds: fc.uniqueArray(fc.constantFrom(...Object.keys(layouts)), { minLength: 2, maxLength: 4 }),
  deeds: fc.array(deed, { minLength: 12, maxLength: 20 }),
  hasLoop: fc.boolean(),
});

async function check(): Promise<void> {
  using person = await makePerson();
  await using workspaces = await openWorkspaces(person, { count: runs });
  const property = fc.asyncProperty(plan, async ({ kinds, deeds, hasLoop }) => {
    const { top, startLoop, ...actor } = workspaces.take();
    const made = kinds.flatMap((kind) => layouts[kind] ?? []);
    for (const { make } of made) person.shell(top, make);
    const targets = [...commonTargets, ...made];
    const loop = hasLoop ? await startLoop(targets) : undefined;
    for (const one of deeds) await actor.do(one, targets);
    expect(await actor.isAlive()).toBe(true);
    await loop?.advance();
    const ran = await person.work(top);
    await loop?.stop();
    expect(ran).toEqual([]);
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true });
}

test('after any attack of an agent on any tree, in any order, git runs nothing', check, runs * 40_000);
