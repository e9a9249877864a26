import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, makeDirectory, runCroft } from '../support/harness.ts';

test('croft du lists the sizes of a workspace with their reasons, and nothing after it is removed', async () => {
  using root = makeDirectory({ 'project/a.txt': 'a\n' });
  const env = { CROFT_DATA: root.at('data') };
  {
    await using session = await connectStdio(['--workspace', root.at('project'), '--sandbox', 'bubblewrap'], { env });
    await session.call('snapshot_create', { name: 'mine' });
    await session.call('write', { file_path: 'b.txt', content: 'b\n' });
    await session.call('snapshot_restore', { name: 'mine' });
  }
  const { stdout } = await runCroft(['du'], { env });
  const line = stdout.split('\n').find((row) => row.includes('history of')) ?? '';
  expect(line).toMatch(/^ *\d+(\.\d)? [kM]B {2}history of /);
  expect(line).toContain(root.at('project'));
  expect(line).toMatch(/\(1 snapshot, kept until deleted; 1 automatic snapshot; [12] checkpoints? since \d{4}-/);
  expect(stdout).toMatch(/\n *[\d.]+ [kM]B {2}in all, in .*data\n$/);

  rmSync(root.at('project'), { recursive: true });
  expect((await runCroft(['du'], { env })).stdout).toMatch(
    /the directory is gone; nobody needs it: rm -r \/.*history\//,
  );
  const rows = (await runCroft(['du', '--json'], { env })).stdout
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row));
  expect(rows.find(({ kind }) => kind === 'history')).toMatchObject({
    of: expect.stringContaining('project'),
    isOrphan: true,
    bytes: expect.any(Number),
    notes: { named: 1, automatic: 1 },
  });
});

test('croft du refuses a missing data directory and unknown arguments', async () => {
  using root = makeDirectory();
  expect((await runCroft(['du', '--data', root.at('none')])).stdout).toMatch(/0\.0 kB {2}in all/);
  expect((await runCroft(['du', 'everything'])).stderr).toContain('usage: croft du');
});
