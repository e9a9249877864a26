import { expect, test } from 'vitest';
import { escapeGroups } from '../escapes/escape-groups.ts';
import type { EscapeReport } from '../escapes/run-escapes.ts';
import { type ProofOptions, proveEscapesFail } from './prove-escapes-fail.ts';

const held = (id: string): EscapeReport => ({
  id,
  title: `attempt ${id}`,
  guards: ['mounts'],
  outcome: { held: true },
  durationMs: 12.3,
});
const got = (id: string, how: string): EscapeReport => ({ ...held(id), outcome: { held: false, how } });
const skip = (id: string, skipped: string): EscapeReport => ({ ...held(id), outcome: { skipped } });

async function proveWith(reports: readonly EscapeReport[], options: Partial<ProofOptions> = {}) {
  let text = '';
  const {
    groups: reported,
    escapes,
    hasHeld,
  } = await proveEscapesFail({
    ids: [],
    signal: new AbortController().signal,
    write: (part) => {
      text += part;
    },
    async runEscapes({ onResult } = {}) {
      for (const report of reports) onResult?.(report);
      return [...reports];
    },
    ...options,
  });
  return { text, groups: reported, escapes, hasHeld };
}

test('prints each attempt under its group, and a summary of all in one line', async () => {
  const { text, hasHeld, escapes } = await proveWith([
    held('A1'),
    held('B27'),
    skip('B41', 'no old kernel'),
    held('G97'),
  ]);
  const lines = text.split('\n').filter((line) => !line.startsWith('   '));
  expect(lines.join('\n')).toBe(
    [
      ...['', 'A  paths and files', '  ✓ A1   attempt A1 (12 ms)'],
      ...['', 'B  the kernel', '  ✓ B27  attempt B27 (12 ms)', '  - B41  attempt B41: skipped, no old kernel'],
      ...['', 'G  resources', '  ✓ G97  attempt G97 (12 ms)'],
      ...['', '4 attempts: 3 held, 0 got out, 1 skipped (no old kernel)', ''],
    ].join('\n'),
  );
  expect([hasHeld, escapes.length]).toEqual([true, 4]);
});

test('prints once for each attempted group what it covers and what it leaves out', async () => {
  const { text, groups: reported } = await proveWith([held('A1'), held('A2'), held('G97'), held('X1')]);
  expect(reported.map(({ letter }) => letter)).toEqual(['A', 'G']);
  const flat = text.replace(/\s+/g, ' ');
  for (const { letter, covers, leavesOut } of escapeGroups) {
    const count = letter === 'A' || letter === 'G' ? 2 : 1;
    expect(flat.split(`covers: ${covers} leaves out: ${leavesOut} `)).toHaveLength(count);
  }
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  expect(text).toContain('\nX  others\n');
});

test('fails when one attack got out, and prints how and past which guard', async () => {
  const { text, hasHeld } = await proveWith([held('A1'), got('B27', 'a namespace\nof its own \u001b[2J'), held('B28')]);
  expect(hasHeld).toBe(false);
  expect(text).toContain('  ✗ B27  attempt B27\n         got out: a namespace of its own\n');
  expect(text).toContain('held by: mounts\n');
  expect(text).toContain('3 attempts: 2 held, 1 got out, 0 skipped\n');
});

test('fails when no attack was attempted', async () => {
  expect(await proveWith([])).toMatchObject({ hasHeld: false });
});

test('passes if the others could not be attempted here', async () => {
  const reports = [held('A1'), skip('B1', 'why'), skip('B2', 'why'), skip('B3', 'else')];
  expect(await proveWith(reports)).toMatchObject({ hasHeld: true });
  expect((await proveWith(reports)).text).toContain('3 skipped (why; else)');
});

test('ignores results after an interruption, and then proves nothing', async () => {
  const stop = new AbortController();
  const { text, hasHeld, escapes } = await proveWith([], {
    signal: stop.signal,
    async runEscapes({ onResult } = {}) {
      onResult?.(held('A1'));
      stop.abort();
      onResult?.(got('A2', 'could not be attempted: This operation was aborted'));
      return [];
    },
  });
  expect(escapes.map(({ id }) => id)).toEqual(['A1']);
  expect(text).toMatch(/\n1 attempts: 1 held, 0 got out, 0 skipped; stopped before the end\n$/);
  expect(hasHeld).toBe(false);
});

test.each([
  [['b27'], ['B27']],
  [
    ['a8A', 'E'],
    ['A8a', 'E'],
  ],
  [[], undefined],
])('runs %j under the ids of the attacks', async (ids, only) => {
  let asked: unknown;
  await proveWith([], {
    ids,
    async runEscapes(options = {}) {
      asked = options.only;
      for (const id of ['B27', 'A8a', 'E61']) options.onResult?.(held(id));
      return [];
    },
  });
  expect(asked).toEqual(only);
});

test('refuses an unknown id', async () => {
  await expect(proveWith([held('B27')], { ids: ['B27', 'B2', 'Z'] })).rejects.toThrow('there is no attempt B2, Z;');
});
