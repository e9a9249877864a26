import { expect, test } from 'vitest';
import { createTokenBucket } from '../../lib/concurrency/token-bucket.ts';
import { compileLinearPattern } from '../../lib/text/patterns/linear-pattern.ts';
import { createOutputWatch } from './output-watch.ts';

const source = '((.?){10}){10}x';
/** Each character is new, so that no cached result helps. */
const lineChars = 1300;
const flood = Buffer.from(
  Array.from({ length: 30 * lineChars }, (_, index) => String.fromCharCode(0x3000 + index))
    .join('')
    .replace(/.{1300}/gs, '$&\n'),
);

test('slow patterns are tried on a limited number of lines, and the answer says so', () => {
  const clock = { ms: 0 };
  const allowance = createTokenBucket({ capacity: 1_000_000, perSecond: 1_000_000, now: () => clock.ms });
  let steps = 0;
  const spend = (count: number) => {
    steps += count;
    allowance.spend(count);
  };
  const patterns = Array.from({ length: 32 }, () => ({ source, isMatch: compileLinearPattern(source, spend) }));
  const watch = createOutputWatch({ patterns, allowance, idleMs: 0, onIdle: () => {} });
  watch.observe('stderr', flood);
  const oneLine = lineChars * 250;
  expect(steps).toBeLessThan(1_000_000 + oneLine);
  expect(watch.unexamined()).toBeGreaterThan(25);

  clock.ms += 500;
  watch.observe('stderr', flood);
  expect(steps).toBeLessThan(1_500_000 + 2 * oneLine);
  clock.ms += 10_000;
  watch.observe('stderr', Buffer.from('all is well\nax\n'));
  expect(watch.since(0).at(-1)?.text).toContain('ax');
});
