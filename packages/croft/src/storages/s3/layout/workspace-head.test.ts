import { expect, test } from 'vitest';
import { keysChangedSince, type WorkspaceHead, withCommit } from './workspace-head.ts';

const at = new Date(0);
const commit = (by: string, ...keys: string[]) => ({ id: `${by}-${Math.random()}`, by, keys });

function headOf(...commits: ReturnType<typeof commit>[]): WorkspaceHead {
  return commits.reduce<WorkspaceHead | undefined>((head, one) => withCommit(head, one, at), undefined)!;
}

test('lists the changes of others since a version, without our own', () => {
  const head = headOf(commit('us', 'a'), commit('them', 'b', 'c'), commit('us', 'd'), commit('them', 'c'));
  expect(head.version).toBe(4);
  expect(keysChangedSince(head, 0, 'us')).toEqual(new Set(['b', 'c']));
  expect(keysChangedSince(head, 2, 'us')).toEqual(new Set(['c']));
  expect(keysChangedSince(head, 4, 'us')).toEqual(new Set());
});

test('a gap, an older head and a commit too large to list need a look at the whole bucket', () => {
  const many = Array.from({ length: 300 }, (_, index) => commit('them', `k${index}`));
  const head = headOf(...many);
  expect(head.commits.length).toBe(200);
  expect(keysChangedSince(head, 99, 'us')).toBeUndefined();
  expect(keysChangedSince(head, 100, 'us')?.size).toBe(200);
  expect(keysChangedSince(head, 301, 'us')).toBeUndefined();
  const large = withCommit(head, commit('them', ...Array.from({ length: 5000 }, (_, index) => `l${index}`)), at);
  expect(keysChangedSince(large, 300, 'us')).toBeUndefined();
  expect(JSON.stringify(large).length).toBeLessThan(100_000);
});

test('the head stays small however large the commits are, and its newest commit is always there', () => {
  const keys = Array.from({ length: 1500 }, (_, index) => `k${index}`);
  const head = headOf(commit('them', ...keys), commit('them', ...keys), commit('them', ...keys));
  expect(head.commits.map(({ version }) => version)).toEqual([3]);
  expect(keysChangedSince(head, 2, 'us')?.size).toBe(1500);
  expect(keysChangedSince(head, 1, 'us')).toBeUndefined();
});
