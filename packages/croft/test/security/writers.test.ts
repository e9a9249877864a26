import { existsSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, makeDirectory, runCroft } from '../support/harness.ts';
import { countMarks, createClock, isEnough, newWriterLog, runWriter, type WriterLog } from './writers-fixture.ts';

/** Two soaks in the suite; `CROFT_WRITERS_SECONDS=60` for a minute each. */
const seconds = Number(process.env.CROFT_WRITERS_SECONDS ?? 5);

test.each([
  ['two', 2, 'one data directory'],
  ['four', 4, 'a data directory each'],
])('%s processes that edit one tree, killed at random, lose and repeat no change (%d, %s)', async (_, count, data) => {
  using fixture = makeDirectory({
    'work/hot.txt': 'END\n',
    'work/whole.txt': 'END\n',
    'work/moving.txt': 'END\n',
    'work/elsewhere/keep': '',
  });
  const reported = newWriterLog();
  const clock = createClock(count, seconds * 1000, () => isEnough(reported));
  const writers = Array.from({ length: count }, (_, index) => {
    const own = fixture.at(`data-${data === 'one data directory' ? 0 : index}`);
    mkdirSync(own, { recursive: true });
    const env = { CROFT_DATA: own };
    return runWriter({
      name: `${index}`,
      directory: fixture.at('work'),
      env,
      told: reported,
      clock,
      random: Math.random,
    });
  });
  await Promise.all(writers);
  check(reported, countMarks(fixture.at('work')));
  const verified = await runCroft(['audit', 'verify', '--trail', 'local', '--data', fixture.at('data-0')]);
  expect(verified, verified.stdout).toMatchObject({ exitCode: 0 });
});

test('a command in a sandbox sees no lock, and cannot block others by a lock', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'one\n' });
  await using session = await connectStdio(['--workspace', fixture.at('work')]);
  await session.call('write', { file_path: 'b.txt', content: 'makes the locks' });
  const seen = await session.call('bash', { command: 'ls -d /dev/shm/* /tmp/* /var/tmp/* 2>/dev/null; true' });
  expect(seen).toMatchObject({ isError: false });
  expect(seen.text).not.toMatch(/croft-\d|writers/);
  const command = 'exec 8<. 9<a.txt; flock -n 8 && flock -n 9 && touch locked && sleep 300';
  await session.call('bash', { command, run_in_background: true });
  await expect.poll(() => existsSync(fixture.at('work/locked'))).toBe(true);
  await session.call('read', { file_path: 'a.txt' });
  const edited = await session.call('edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' });
  expect(edited).toMatchObject({ isError: false });
});

function check({ acknowledged, unknown, refused, kills }: WriterLog, counts: ReadonlyMap<string, number>): void {
  const lost = [...acknowledged].filter((mark) => !counts.has(mark));
  const twice = [...counts].filter(([, count]) => count > 1).map(([mark]) => mark);
  const unasked = [...counts.keys()].filter((mark) => !acknowledged.has(mark) && !unknown.has(mark));
  const summary = `${acknowledged.size} acknowledged, ${kills} kills, refused: ${JSON.stringify([...refused])}`;
  expect({ lost, twice, unasked }, summary).toEqual({ lost: [], twice: [], unasked: [] });
}
