import { expect, test } from 'vitest';
import type { FeedRow } from '../../live/feed-row.ts';
import { findCheckpointOf } from './use-checkpoint-of.ts';

const at = '2030-01-01T12:00:00.000Z';
const row: FeedRow = {
  ...{ key: 'call', at, outcome: 'ran', agentId: 'a', session: 's', tool: 'write', title: 'a.md', violations: [] },
  ...{ workspace: 'notes', workspaceId: 'ws_1', durationMs: 100 },
};
const checkpoint = { checkpointId: 'cp_1', tool: 'write', title: 'a.md', session: 's', at, paths: 1 };

test('the checkpoint of a call has its tool, its title and its time', () => {
  expect(findCheckpointOf(row, [checkpoint])).toBe(checkpoint);
  expect(findCheckpointOf(row, [{ ...checkpoint, title: 'b.md' }])).toBeUndefined();
  expect(findCheckpointOf(row, [{ ...checkpoint, at: '2030-01-01T12:00:09.000Z' }])).toBeUndefined();
});

test('two that could be it are none', () => {
  expect(findCheckpointOf(row, [checkpoint, { ...checkpoint, checkpointId: 'cp_2' }])).toBeUndefined();
});

test('a call that names its checkpoint is believed', () => {
  const other = { ...checkpoint, checkpointId: 'cp_2', title: 'x' };
  expect(findCheckpointOf({ ...row, checkpoint: 'cp_2' }, [checkpoint, other])).toBe(other);
});

test('a checkpoint that names its call is of no other, however alike', () => {
  const own = { ...checkpoint, call: row.key, title: 'cut…' };
  const alike = { ...checkpoint, checkpointId: 'cp_2', call: 'another' };
  expect(findCheckpointOf(row, [alike, own])).toBe(own);
  expect(findCheckpointOf(row, [alike])).toBeUndefined();
});
