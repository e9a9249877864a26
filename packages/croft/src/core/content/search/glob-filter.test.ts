import { expect, test } from 'vitest';
import { createGlobFilter } from './glob-filter.ts';

const options = { root: '/work', scope: 'src' };
const names = (count: number) => Array.from({ length: count }, (_, index) => `src/${'ab'.repeat(20)}${index}.ts`);
const slow = '*a*a*a*b*[0-9]7.{t,{1..200}}s';

test('a slow pattern gives the same matches in a worker thread', async () => {
  const { isWanted, keep } = await createGlobFilter(options, slow, 'pattern');
  const items = names(2000).map((path) => ({ path }));
  const chunks = [items.slice(0, 300), items.slice(300, 310), items.slice(310)];
  const kept = [];
  for (const chunk of chunks) kept.push(...(await keep(chunk)));
  // Counted by hand: those that end in 7, with a digit before it.
  expect(kept).toEqual(items.filter(({ path }) => /\d7\.ts$/.test(path)));
  expect(isWanted('src/aaab17.ts')).toBe(true);
});

test('the main thread is free while a worker matches', async () => {
  const { keep } = await createGlobFilter(options, '*a*a*a*a*[q-s]{1..900}*', 'pattern');
  const before = process.threadCpuUsage().user;
  const kept = keep(names(900).map((path) => ({ path })));
  await expect(kept).rejects.toMatchObject({
    code: 'E_BAD_PATTERN',
    message: expect.stringContaining('too many steps'),
    details: { pattern: expect.any(String) },
  });
  // On this thread alone, the test would take half a second.
  expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(150);
});

test('the step limit holds for all files of a search together', async () => {
  const { keep } = await createGlobFilter(options, '*a*a*a*a*[q-s]{1..900}*', 'pattern');
  const some = names(20).map((path) => ({ path }));
  await expect(
    (async () => {
      for (let round = 0; round < 200; round++) await keep(some);
    })(),
  ).rejects.toMatchObject({ code: 'E_BAD_PATTERN' });
});

test.each([
  ['a range', '*a*[q-s]{1..900}*'],
  ['a list', `*a*b*c*d*[q-s]{${Array.from({ length: 500 }, (_, index) => index).join(',')}}*`],
])('many alternatives are compiled in the other thread: %s', async (_, pattern) => {
  await createGlobFilter(options, pattern, 'pattern');
  const before = process.threadCpuUsage().user;
  for (let search = 0; search < 200; search++) {
    const { keep } = await createGlobFilter(options, pattern, 'pattern');
    await keep([{ path: 'src/x.ts' }]);
  }
  // Compiled on this thread they take three to five times as long.
  expect((process.threadCpuUsage().user - before) / 1000).toBeLessThan(70);
});

test('a malformed pattern of many alternatives is refused before anything is searched', async () => {
  const refused = { code: 'E_BAD_PATTERN', message: expect.stringContaining('more than 1000 alternatives') };
  await expect(createGlobFilter(options, '{1..40}{1..40}', 'pattern')).rejects.toMatchObject(refused);
});
