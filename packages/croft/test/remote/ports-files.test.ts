import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { CurrentFile } from '../../src/core/files/files.ts';
import { createMemoryBudget } from '../../src/lib/concurrency/memory-budget.ts';
import { describeFiles } from '../contracts/files.ts';
import { bytesOf, expectFailure } from '../contracts/files-expect.ts';
import { openFixture } from './ports-fixture.ts';

describeFiles('remote', openFixture);

const increment = async (current: CurrentFile | undefined) => ({
  bytes: bytesOf(`${Number(await current?.content()) + 1}`),
});

test('changes of one file under several names are not lost', async () => {
  await using fixture = await openFixture();
  writeFileSync(fixture.at('count'), '0');
  symlinkSync('count', fixture.at('link'));
  const names = Array.from({ length: 30 }, (_, index) => ['count', 'link', './count'][index % 3] ?? '');
  await Promise.all(names.map((name) => fixture.files.change(name, increment)));
  expect(readFileSync(fixture.at('count'), 'utf8')).toBe('30');
});

test('a large content crosses the link only for a change that needs it', async () => {
  await using fixture = await openFixture();
  const [file, large] = [fixture.at('large'), 'x'.repeat(1_000_000)];
  writeFileSync(file, large);
  const sent = vi.spyOn(fixture.server, 'call');
  const asked = () => sent.mock.calls.flatMap(([name, given]) => (name === 'files.current' ? [given] : []));
  await fixture.files.change('large', () => ({ bytes: bytesOf(`${large}y`) }));
  expect(asked()).toMatchObject([{ maxBytes: 64 * 1024 }]);

  await fixture.files.change('large', async (current) => ({ bytes: bytesOf(`${await current?.content()}z`) }));
  expect(readFileSync(file, 'utf8')).toBe(`${large}yz`);
  expect(asked()).toMatchObject([{}, { maxBytes: 64 * 1024 }, { maxBytes: 64 * 1024 * 1024 }]);

  const change = fixture.files.change('large', async (current) => {
    writeFileSync(file, 'theirs');
    return { bytes: (await current?.content()) ?? bytesOf('mine') };
  });
  await expect(change).rejects.toMatchObject({ code: 'E_STALE' });
  expect(readFileSync(file, 'utf8')).toBe('theirs');
});

test('the memory of a link is limited: other requests wait for their turn, up to a deadline', async () => {
  const budget = createMemoryBudget(100);
  const steps: string[] = [];
  const hold = async (name: string, bytes: number) => {
    const held = await budget.reserve(bytes);
    steps.push(name);
    return held;
  };
  const first = await hold('first', 60);
  const large = hold('larger than all', 1000);
  const small = hold('small', 10);
  await setImmediate();
  expect(steps).toEqual(['first']);
  first[Symbol.dispose]();
  const alone = await large;
  expect(steps).toEqual(['first', 'larger than all']);
  alone[Symbol.dispose]();
  (await small)[Symbol.dispose]();
  (await hold('all of it', 100))[Symbol.dispose]();
});

test('a file that its reader drops is closed, and not read any more', async () => {
  await using fixture = await openFixture();
  await fixture.files.write('a.bin', Buffer.alloc(4 * 1024 * 1024, 'x'));
  const file = await fixture.files.open('a.bin');
  const chunks = file.chunks()[Symbol.asyncIterator]();
  expect((await chunks.next()).done).toBe(false);
  await file[Symbol.asyncDispose]();
  await expect(async () => {
    while (!(await chunks.next()).done);
  }).rejects.toThrow();
  await expectFailure(Array.fromAsync(file.chunks()), 'E_NOT_FOUND');
});

test('a call lost in the middle fails with what is known', async () => {
  await using fixture = await openFixture();
  await fixture.files.write('a.bin', Buffer.alloc(1024 * 1024));
  const reading = fixture.files.read('a.bin');
  const changing = fixture.files.change('a.bin', () => ({ bytes: bytesOf('new') }));
  fixture.server.close('gone');
  await expectFailure(reading, 'E_RUNNER_LOST');
  await expectFailure(changing, 'E_RUNNER_LOST');
  await expectFailure(fixture.files.write('b.bin', bytesOf('x')), 'E_RUNNER_LOST');
});
