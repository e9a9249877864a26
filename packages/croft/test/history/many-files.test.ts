import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { emptyTreeHash } from '../../src/core/history/ports/tree.ts';
import { TreeClosed } from '../../src/core/history/ports/working-tree.ts';
import { findInit } from '../../src/init/find-init.ts';
import type { Follower } from '../../src/init/followed-tree.ts';
import { createFollower } from '../../src/init/follower.ts';
import { prepareTree } from './trees.ts';
import { createWalkingFollower } from './walking-follower.ts';

test('10,000 files are captured, and their changes, and can be restored after all are gone', async () => {
  const fixture = prepareTree();
  for (let file = 0; file < 10_000; file++) {
    if (file % 100 === 0) mkdirSync(fixture.at(`d${file / 100}`));
    writeFileSync(fixture.at(`d${Math.floor(file / 100)}/f${file}`), `content of ${file}`);
  }
  const tree = await fixture.open(createFollower(findInit));
  const first = (await tree.capture({ scope: 'all' })).root;
  for (let file = 5; file < 10_000; file += 1000)
    writeFileSync(fixture.at(`d${Math.floor(file / 100)}/f${file}`), 'new');
  const second = (await tree.capture({ scope: 'all' })).root;
  expect((await tree.diff(first, second)).map(({ path }) => path)).toHaveLength(10);
  const done: number[] = [];
  await tree.apply(await tree.diff(second, emptyTreeHash));
  expect((await tree.capture({ scope: 'all' })).root).toBe(emptyTreeHash);
  await tree.apply(await tree.diff(emptyTreeHash, first), { onProgress: (count, total) => done.push(count / total) });
  expect(done.at(-1)).toBe(1);
  expect((await tree.capture({ scope: 'all' })).root).toBe(first);
}, 120_000);

test('the index of read files is stored completely, during later captures and at the end', async () => {
  const fixture = prepareTree();
  for (let file = 0; file < 1050; file++) writeFileSync(fixture.at(`f${file}`), `content of ${file}`);
  const isOld = () => expect(Date.now() - statSync(fixture.at('f1049')).ctimeMs).toBeGreaterThan(50);
  const written = () => {
    using index = new DatabaseSync(`${fixture.data}/index.db`, { readOnly: true });
    return index.prepare('SELECT count(*) AS count FROM files').get()?.count;
  };
  const tree = await fixture.open(createFollower(findInit));
  await vi.waitFor(isOld);
  await tree.capture({ scope: 'all' });
  await vi.waitFor(
    async () => {
      await tree.capture({ scope: 'all' });
      expect(written()).toBe(1050);
    },
    { timeout: 20_000, interval: 5 },
  );
  for (let file = 0; file < 1050; file += 2) rmSync(fixture.at(`f${file}`));
  await tree.capture({ scope: 'all' });
  await tree[Symbol.asyncDispose]();
  expect(written()).toBe(525);
});

test('closing a tree ends a scan and a capture that are under way, and keeps what was read so far', async () => {
  const fixture = prepareTree();
  for (let file = 0; file < 5000; file++) writeFileSync(fixture.at(`f${file}`), `content of ${file}`);
  const written = () => {
    using index = new DatabaseSync(`${fixture.data}/index.db`, { readOnly: true });
    return Number(index.prepare('SELECT count(*) AS count FROM files').get()?.count);
  };
  const scanned = await fixture.open(endlessFollower());
  const scan = expect(scanned.capture({ scope: 'all' })).rejects.toThrow(TreeClosed);
  await scanned[Symbol.asyncDispose]();
  await scan;
  expect(written()).toBe(0);

  const tree = await fixture.open(createFollower(findInit));
  const begun = Promise.withResolvers<void>();
  const capture = tree.capture({ scope: 'all', onProgress: () => begun.resolve() });
  const captured = expect(capture).rejects.toThrow(TreeClosed);
  await begun.promise;
  await tree[Symbol.asyncDispose]();
  await captured;
  expect(written()).toBeGreaterThan(0);
  expect(written()).toBeLessThan(5000);
});

/** A follower whose scan of a very large tree has not ended yet. */
function endlessFollower(): Follower {
  const follower = createWalkingFollower();
  return {
    async open(directoryFd) {
      const following = await follower.open(directoryFd);
      const closed = Promise.withResolvers<never>();
      closed.promise.catch(() => {});
      const close = () => {
        closed.reject(new Error('closed'));
        following.close();
      };
      return { ...following, take: () => closed.promise, close };
    },
  };
}
