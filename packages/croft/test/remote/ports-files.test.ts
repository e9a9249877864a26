import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CurrentFile } from '../../src/core/files.ts';
import { createBudget } from '../../src/lib/budget.ts';
import { describeFiles } from '../contracts/files.ts';
import { bytesOf, expectFailure } from '../contracts/files-expect.ts';
import { openGround } from './ports-ground.ts';

describeFiles('remote', openGround);

const increment = (current: CurrentFile | undefined) => ({ bytes: bytesOf(`${Number(current?.content()) + 1}`) });

test('changes of one file under several names are not lost either', async () => {
  await using ground = await openGround();
  writeFileSync(ground.at('count'), '0');
  symlinkSync('count', ground.at('link'));
  const names = Array.from({ length: 30 }, (_, index) => ['count', 'link', './count'][index % 3] ?? '');
  await Promise.all(names.map((name) => ground.files.change(name, increment)));
  expect(readFileSync(ground.at('count'), 'utf8')).toBe('30');
});

test('what a link holds at once is bounded: the rest waits for its turn, and none for ever', async () => {
  const budget = createBudget(100);
  const steps: string[] = [];
  const hold = async (name: string, bytes: number) => {
    const held = await budget.hold(bytes);
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

test('a file that is let go of is closed, and is not read any more', async () => {
  await using ground = await openGround();
  await ground.files.write('a.bin', Buffer.alloc(4 * 1024 * 1024, 'x'));
  const file = await ground.files.open('a.bin');
  const chunks = file.chunks()[Symbol.asyncIterator]();
  expect((await chunks.next()).done).toBe(false);
  await file[Symbol.asyncDispose]();
  await expect(async () => {
    while (!(await chunks.next()).done);
  }).rejects.toThrow();
  await expectFailure(Array.fromAsync(file.chunks()), 'E_NOT_FOUND');
});

test('what is lost in the middle of it fails with what is known', async () => {
  await using ground = await openGround();
  await ground.files.write('a.bin', Buffer.alloc(1024 * 1024));
  const reading = ground.files.read('a.bin');
  const changing = ground.files.change('a.bin', () => ({ bytes: bytesOf('new') }));
  ground.server.close('gone');
  await expectFailure(reading, 'E_RUNNER_LOST');
  await expectFailure(changing, 'E_RUNNER_LOST');
  await expectFailure(ground.files.write('b.bin', bytesOf('x')), 'E_RUNNER_LOST');
});
