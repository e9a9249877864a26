import { expect, test, vi } from 'vitest';
import { connect, countDue, findIndex, makeProject, type Place, type Session, search } from './index-fixture.ts';

/** Enough files that an index of them is not built in a moment. */
const manyFiles = Object.fromEntries(
  Array.from({ length: 3000 }, (_, number) => [
    `src/part${number}.ts`,
    `export function partNumber${number}() {\n  return ${number};\n}\n`,
  ]),
);

async function untilFewerDue(place: Place, count: number): Promise<void> {
  const isLess = () => expect(countDue(findIndex(place) ?? '')).toBeLessThan(count);
  await vi.waitFor(isLess, { timeout: 10_000, interval: 20 });
}

test.each([
  ['is killed', ({ pid }: Session) => process.kill(pid, 'SIGKILL')],
  ['ends', (session: Session) => session.close()],
])('when the program that builds an index %s, another one goes on by itself', async (_, end) => {
  const place = makeProject(manyFiles);
  const [builder, other] = await Promise.all([connect(place), connect(place)]);
  await search(builder, 'part number');
  await untilFewerDue(place, 3000);
  await search(other, 'part number');
  // The other program finds the index being built, and waits.
  await untilFewerDue(place, countDue(findIndex(place) ?? '') - 500);
  await end(builder);
  const left = countDue(findIndex(place) ?? '');
  expect(left).toBeGreaterThan(100);
  await vi.waitFor(() => expect(countDue(findIndex(place) ?? '')).toBeLessThan(left), {
    timeout: 10_000,
    interval: 20,
  });
});
