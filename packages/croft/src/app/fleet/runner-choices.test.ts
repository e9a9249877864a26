import { expect, test } from 'vitest';
import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import type { RunnerCandidate } from '../../core/runners/choose-runner.ts';
import { createRunnerChoices } from './runner-choices.ts';

const machine = (name: string, sandboxes: number, os = 'linux'): RunnerCandidate => ({
  ...{ name, state: 'online', report: { labels: { os }, capacity: 10 }, load: { sandboxes, cpu: 0 } },
});

function attached(config: object): AttachedWorkspace {
  return { name: 'w', reads: 'sandbox', record: { id: 'ws' }, sandbox: { id: 'sb', config } } as never;
}

test('a workspace stays on the runner that was chosen, as long as that runner is connected and fits', () => {
  const { of } = createRunnerChoices();
  const wanted = attached({ labels: { os: 'linux' } });
  expect(of(wanted, [machine('a', 0), machine('b', 5)])).toBe('a');
  expect(of(wanted, [machine('a', 9), machine('b', 0)])).toBe('a');
  expect(of(wanted, [{ ...machine('a', 9), state: 'reconnecting' }, machine('b', 0)])).toBe('a');
  expect(of(wanted, [machine('a', 0, 'other'), machine('b', 0)])).toBe('b');
  expect(of(wanted, [machine('c', 0)])).toBe('c');
  expect(() => of(wanted, [])).toThrow('there is no runner');
});

test('a runner named in the record is used, whatever was chosen before', () => {
  const { of } = createRunnerChoices();
  expect(of(attached({ labels: {} }), [machine('a', 0)])).toBe('a');
  expect(of(attached({ runner: 'b' }), [machine('a', 0)])).toBe('b');
});
