import type { LiveSandboxes, OpenSandbox } from '@croft/protocol';
import { expect, test } from 'vitest';
import { addReading, mostReadings } from './sandbox-meters.ts';

const box: OpenSandbox = {
  ...{ id: 'a', workspaceId: 'ws', workspace: 'w', openedBy: 'agent', openedAt: '2026-01-01T00:00:00.000Z' },
  isSuspended: false,
  ...{ processes: 2, memoryBytes: 100, processorMs: 0, ports: [] },
  limits: { memoryBytes: 1000, processes: 10, cpus: 2 },
};
const reading = (second: number, ...open: OpenSandbox[]): LiveSandboxes => ({
  at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  open,
});

test('processors are what was used since the reading before', () => {
  const first = reading(0, box);
  const meters = addReading([], undefined, first);
  expect(meters).toMatchObject([{ processors: [], memoryBytes: [100] }]);
  const second = reading(2, { ...box, processorMs: 3000, memoryBytes: 200 });
  expect(addReading(meters, first, second)).toMatchObject([{ processors: [1.5], memoryBytes: [100, 200] }]);
});

test('a sandbox that is closed is forgotten, and one that nobody measures has no values', () => {
  const first = reading(0, box, { ...box, id: 'b', processorMs: null, memoryBytes: null });
  const meters = addReading(addReading([], undefined, first), first, reading(2, ...first.open.slice(1)));
  expect(meters).toMatchObject([{ open: { id: 'b' }, processors: [], memoryBytes: [] }]);
});

test('time that is gone with its processes is not negative, and old readings are dropped', () => {
  let [meters, before] = [addReading([], undefined, reading(0, box)), reading(0, box)];
  for (let second = 1; second < 100; second++) {
    const next = reading(second, { ...box, processorMs: 500 - second });
    [meters, before] = [addReading(meters, before, next), next];
  }
  expect(meters[0]?.processors).toHaveLength(mostReadings);
  expect(Math.min(...(meters[0]?.processors ?? []))).toBe(0);
});
