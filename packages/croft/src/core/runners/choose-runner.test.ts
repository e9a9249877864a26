import { expect, test } from 'vitest';
import { chooseRunner, type RunnerCandidate } from './choose-runner.ts';

const candidate = (name: string, more: Partial<RunnerCandidate> = {}): RunnerCandidate => ({
  name,
  state: 'online',
  report: { labels: { os: 'linux' }, capacity: 10 },
  load: { sandboxes: 0, cpu: 0 },
  ...more,
});
const linux = { labels: { os: 'linux' } };

test('a named runner is chosen, and no other', () => {
  expect(chooseRunner([candidate('one')], { runner: 'two' })).toBe('two');
});

test('of the runners with all labels, the one with the most free capacity is chosen', () => {
  const busy = candidate('busy', { load: { sandboxes: 5, cpu: 0 } });
  const hot = candidate('hot', { load: { sandboxes: 0, cpu: 0.9 } });
  const gpu = candidate('gpu', { report: { labels: { os: 'linux', gpu: 'yes' }, capacity: 1 } });
  expect(chooseRunner([busy, hot, candidate('free')], linux)).toBe('free');
  expect(chooseRunner([busy, hot], linux)).toBe('busy');
  expect(chooseRunner([busy, gpu], { labels: { os: 'linux', gpu: 'yes' } })).toBe('gpu');
  expect(chooseRunner([candidate('b'), candidate('a')], linux)).toBe('a');
});

test.each([
  ['there is no runner', []],
  ['there is no runner', [candidate('mac', { report: { labels: { os: 'mac' }, capacity: 1 } })]],
  ['no runner is online', [candidate('away', { state: 'reconnecting' })]],
  ['every runner is full', [candidate('full', { load: { sandboxes: 10, cpu: 0 } })]],
])('%s: no runner is chosen', (reason, candidates) => {
  expect(() => chooseRunner(candidates, linux)).toThrow(
    `${reason} with the labels os=linux; nothing runs anywhere else`,
  );
});

test('a label named like an inherited property matches no runner', () => {
  expect(() => chooseRunner([candidate('one')], { labels: { constructor: 'x', toString: 'y' } })).toThrow('no runner');
});
