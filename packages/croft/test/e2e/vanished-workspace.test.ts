import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';

const commands = [
  ['bash', { command: 'echo ran > /tmp/x; touch made' }],
  ['run_command', { cmd: 'touch', args: ['made'] }],
  ['watch_process', { command: 'touch made', description: 'x' }],
] as const;

test.each(commands)('%s in a workspace that was deleted is refused', async (name, input) => {
  using fixture = makeDirectory({ 'w/file.txt': 'x' });
  await using croft = await connectStdio(['--workspace', fixture.at('w')]);
  await croft.call('list', {});
  rmSync(fixture.at('w'), { recursive: true });
  const { isError, text } = await croft.call(name, input);
  expect(isError).toBe(true);
  expect(text).toContain('workspace');
  expect(text).not.toMatch(/ENOENT|at .*\.ts|bwrap:/);
});

test('another directory in its place is not used', async () => {
  using fixture = makeDirectory({ 'w/file.txt': 'mine' });
  await using croft = await connectStdio(['--workspace', fixture.at('w')]);
  await croft.call('list', {});
  renameSync(fixture.at('w'), fixture.at('moved'));
  mkdirSync(fixture.at('w'));
  writeFileSync(fixture.at('w/file.txt'), 'of somebody else');
  const { text } = await croft.call('bash', { command: 'cat file.txt' });
  expect(text).toBe('mine\n');
});
