import { AppError } from '@croft/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAnswerStore } from './answer-store.ts';
import { jsonBytes } from './json-size.ts';

const halfHourMs = 30 * 60_000;
const text = (chars: number) => 'x'.repeat(chars);

function isKept(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (thrown) {
    expect(AppError.from(thrown).code).toBe('E_INVALID_INPUT');
    return false;
  }
}

test('the pages of any text join to the whole text, each within the size limit and cut between characters', () => {
  const unit = fc.constantFrom(
    'a',
    '"',
    '\\',
    '\n',
    '\u0000',
    '\u001b',
    'é',
    '😀',
    '\u2028',
    'row of text\n',
    '𝒳'.repeat(50),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 300 }), fc.integer({ min: 1, max: 300 }), (units, times) => {
      const whole = `${units.join('').repeat(times)}end`.slice(-200_000).toWellFormed();
      const pages = createAnswerStore().open('a');
      let [cursor, read]: [string | undefined, string] = [pages.store(whole)(0, whole.length), ''];
      while (cursor !== undefined) {
        const page = pages.read(cursor);
        expect(jsonBytes(page.text)).toBeLessThanOrEqual(32_002);
        expect(page.text.isWellFormed()).toBe(true);
        read += page.text;
        cursor = page.nextCursor;
      }
      expect(read).toBe(whole);
    }),
    { numRuns: 50 },
  );
});

test('a cursor is refused unless this session got it: past the end, backwards, invalid, or of another session', () => {
  const shelf = createAnswerStore();
  const [pages, other] = [shelf.open('a'), shelf.open('a')];
  const cursorOf = pages.store(text(100));
  const cursors = [cursorOf(0, 101), cursorOf(100, 100), cursorOf(50, 40), cursorOf(200, 300), 'x', '', '0badc0de.0-1'];
  for (const cursor of cursors)
    expect(
      isKept(() => pages.read(cursor)),
      cursor,
    ).toBe(false);
  expect(isKept(() => other.read(cursorOf(0, 100)))).toBe(false);
  expect(pages.read(cursorOf(40, 100))).toEqual({ text: text(60), left: 0 });
  pages.close();
  expect(isKept(() => pages.read(cursorOf(0, 100)))).toBe(false);
});

test('all sessions share one size limit, and the session that holds most loses its oldest answer first', () => {
  const shelf = createAnswerStore({ maxChars: 2_000_000 });
  const small = shelf.open('small');
  const cursor = small.store(text(50_000))(0, 1);
  const greedy = Array.from({ length: 200 }, () => {
    const pages = shelf.open('greedy');
    const own = pages.store(text(900_000))(0, 1);
    return () => isKept(() => pages.read(own));
  });
  expect(greedy.filter((isThere) => isThere())).toHaveLength(2);
  expect(greedy.at(-1)?.()).toBe(true);
  expect(isKept(() => small.read(cursor))).toBe(true);
});

test('200 sessions with answers of maximum length stay within the shared limit', () => {
  const shelf = createAnswerStore();
  const all = Array.from({ length: 200 }, (_, index) => {
    const pages = shelf.open(`owner-${index}`);
    const cursors = Array.from({ length: 3 }, () => pages.store(text(400_000))(0, 1));
    return () => cursors.filter((cursor) => isKept(() => pages.read(cursor))).length;
  });
  const kept = all.reduce((sum, count) => sum + count(), 0);
  expect(kept * 400_000).toBeLessThanOrEqual(32_000_000);
  expect(kept).toBeGreaterThan(70);
});

test('many short texts count too, and a session cannot exceed its own share', () => {
  const pages = createAnswerStore().open('a');
  const cursors = Array.from({ length: 2000 }, () => pages.store('short')(0, 5));
  expect(cursors.filter((cursor) => isKept(() => pages.read(cursor)))).toHaveLength(100);
});

test('a full store takes another answer within a few milliseconds', () => {
  const shelf = createAnswerStore();
  for (let index = 0; index < 4000; index++) shelf.open(`owner-${index % 500}`).store('short');
  const started = process.cpuUsage().user;
  for (let index = 0; index < 20; index++) shelf.open('one more').store('short');
  expect((process.cpuUsage().user - started) / 20_000).toBeLessThan(25);
});

test('an answer is kept for half an hour after it was last read', () => {
  let now = 0;
  const pages = createAnswerStore({ now: () => now }).open('a');
  const cursor = pages.store(text(10))(0, 10);
  for (let times = 0; times < 3; times++) {
    now += halfHourMs;
    expect(isKept(() => pages.read(cursor))).toBe(true);
  }
  now += halfHourMs + 1;
  expect(isKept(() => pages.read(cursor))).toBe(false);
});
