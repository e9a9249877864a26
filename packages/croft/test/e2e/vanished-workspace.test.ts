import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../harness.ts';

const commands = [
  ['bash', { command: 'echo ran > /tmp/x; touch made' }],
  ['run_command', { cmd: 'touch', args: ['made'] }],
  ['watch_process', { command: 'touch made', description: 'x' }],
] as const;

test.each(commands)('%s in a workspace that was deleted is refused', async (name, input) => {
  using ground = makeDirectory({ 'w/file.txt': 'x' });
  await using croft = await connectStdio(['--workspace', ground.at('w')]);
  await croft.call('list', {});
  rmSync(ground.at('w'), { recursive: true });
  const { isError, text } = await croft.call(name, input);
  expect(isError).toBe(true);
  expect(text).toContain('workspace');
  expect(text).not.toMatch(/ENOENT|at .*\.ts|bwrap:/);
});

test('another directory in its place is not taken for it', async () => {
  using ground = makeDirectory({ 'w/file.txt': 'mine' });
  await using croft = await connectStdio(['--workspace', ground.at('w')]);
  await croft.call('list', {});
  renameSync(ground.at('w'), ground.at('moved'));
  mkdirSync(ground.at('w'));
  writeFileSync(ground.at('w/file.txt'), 'of somebody else');
  const { text } = await croft.call('bash', { command: 'cat file.txt' });
  expect(text).toBe('mine\n');
});
