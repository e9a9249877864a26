import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { findInit } from './find-init.ts';
import { createFollower } from './follower.ts';
import { createFollowerPool } from './follower-pool.ts';

const newPool = (most?: number) => createFollowerPool(() => createFollower(findInit), most);

/** Returns the follower processes that this process has started. */
function followers(): number[] {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  return rows.split('\n').flatMap((row) => (row.includes('--follow') ? [Number(row.trim().split(' ')[0])] : []));
}

/** Follows a new directory for an account. Returns the processes that it started as well. */
async function follow(pool: ReturnType<typeof newPool>, account?: string) {
  const before = followers();
  const fixture = makeDirectory({ 'a.txt': 'one' });
  const handle = openSync(fixture.path, 'r');
  const tree = await pool(account).open(handle);
  closeSync(handle);
  onTestFinished(() => {
    tree.close();
    fixture[Symbol.dispose]();
  });
  return { ...fixture, tree, started: followers().filter((pid) => !before.includes(pid)) };
}

test('a follower that is busy with the trees of one account does not delay another account', async () => {
  const pool = newPool();
  const [eve, ann] = [await follow(pool, 'eve'), await follow(pool, 'ann')];
  const [busy = 0] = eve.started;
  // Does what a tree of a million files does for some time.
  process.kill(busy, 'SIGSTOP');
  onTestFinished(() => void process.kill(busy, 'SIGCONT'));
  expect(await ann.tree.take()).toMatchObject({ isWhole: true });
  writeFileSync(ann.at('b.txt'), 'two');
  expect((await ann.tree.take()).sightings.map(({ path }) => path)).toEqual(['b.txt']);
});

test('all trees of an account share one follower, which the next account gets when the first is gone', async () => {
  const pool = newPool();
  const [one, two] = [await follow(pool, 'eve'), await follow(pool, 'eve')];
  expect([one.started.length, two.started.length]).toEqual([1, 0]);
  one.tree.close();
  one.tree.close();
  expect((await follow(pool, 'ann')).started).toHaveLength(1);
  two.tree.close();
  expect((await follow(pool, 'cid')).started).toHaveLength(0);
});

test('there are no more followers than allowed, and a further account shares the one with the fewest accounts', async () => {
  const pool = newPool(2);
  const accounts = [undefined, 'ann', 'bob', 'cid', 'dan'];
  const started = [];
  for (const account of accounts) started.push((await follow(pool, account)).started.length);
  expect(started).toEqual([1, 1, 0, 0, 0]);
});
