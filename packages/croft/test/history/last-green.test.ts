import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { openFixture } from './fixture.ts';

// Each starts servers of its own, some of them several.
vi.setConfig({ testTimeout: 90_000 });

const manifest = JSON.stringify({ type: 'module', scripts: { test: 'node --test' } });
const suite = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { two } from './two.js';
test('two', () => assert.equal(two, 2));
test('other', () => {});
`;
const tree = { 'package.json': manifest, 'two.js': 'export const two = 2;\n', 'two.test.js': suite };

test('restores the last state whose tests passed, whatever changed since', async () => {
  using fixture = openFixture(tree);
  await using session = await fixture.connect();
  const none = await session.call('snapshot_restore', { green: true });
  expect(none).toMatchObject({ isError: true, structured: { error: { code: 'E_NOT_FOUND' } } });

  expect((await session.call('run_tests')).structured.state).toBe('passed');
  await session.call('snapshot_create', { name: 'good' });
  const [snapshot] = (await session.call('snapshot_list')).structured.snapshots;
  expect(snapshot.checks).toMatchObject([{ tool: 'run_tests', project: 'node', verdict: 'passed' }]);

  const green = fixture.listAll();
  await session.call('bash', { command: 'echo "export const two = 3;" > two.js; echo x > more.js' });
  expect((await session.call('run_tests')).structured.state).toBe('failed');
  await session.call('bash', { command: 'rm two.test.js' });
  const restored = await session.call('snapshot_restore', { green: true });
  expect(restored.isError, restored.text).toBe(false);
  expect(restored.structured).toMatchObject({
    ...{ snapshot: 'good', added: ['two.test.js'], changed: ['two.js'], removed: ['more.js'] },
  });
  expect(fixture.listAll()).toEqual(green);
});

test('needs no snapshot, and works after a restart', async () => {
  using fixture = openFixture(tree);
  {
    await using session = await fixture.connect();
    await session.call('run_tests');
    await session.call('bash', { command: 'echo "export const two = 2; // still" > two.js' });
    expect((await session.call('run_tests')).structured.state).toBe('passed');
    await session.call('bash', { command: 'echo broken > two.js' });
  }
  await using session = await fixture.connect();
  await session.call('snapshot_restore', { green: true });
  expect(readFileSync(fixture.at('two.js'), 'utf8')).toBe('export const two = 2; // still\n');
});

test('does not count a partial test run, nor a tree that changed during the run', async () => {
  using fixture = openFixture(tree);
  await using session = await fixture.connect();
  expect((await session.call('run_tests', { name: 'other' })).structured.state).toBe('passed');
  const partial = await session.call('snapshot_restore', { green: true });
  expect(partial.structured.error?.code).toBe('E_NOT_FOUND');
  const changing = `import { writeFileSync } from 'node:fs';\n${suite}test('x', () => writeFileSync('two.js', 'export const two = 9;\\n'));\n`;
  writeFileSync(fixture.at('two.test.js'), changing);
  expect((await session.call('run_tests')).structured.state).toBe('passed');
  const changed = await session.call('snapshot_restore', { green: true });
  expect(changed.structured.error?.code).toBe('E_NOT_FOUND');
});

test('counts a state although its tests leave files behind', async () => {
  const leaving = `${suite}import { writeFileSync } from 'node:fs';\ntest('x', () => writeFileSync('report.txt', String(Math.random())));\n`;
  using fixture = openFixture({ ...tree, 'two.test.js': leaving });
  await using session = await fixture.connect();
  expect((await session.call('run_tests')).structured.state).toBe('passed');
  await session.call('bash', { command: 'echo broken > two.js' });
  expect((await session.call('snapshot_restore', { green: true })).isError).toBe(false);
  expect(readFileSync(fixture.at('two.js'), 'utf8')).toBe(tree['two.js']);
});
