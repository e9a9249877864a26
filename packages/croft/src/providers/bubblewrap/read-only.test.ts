import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { limits, makeFixture } from '../../../test/support/sandboxes/bubblewrap-fixture.ts';
import { findInit } from '../../init/find-init.ts';
import { sharedSpawner } from '../../init/shared-spawner.ts';
import { findGroups } from '../../lib/cgroup/find-groups.ts';
import { toBwrapArguments } from './bwrap-arguments.ts';
import { createBubblewrap } from './provider.ts';

/** Sandboxes that the spawner makes itself, and sandboxes that bubblewrap makes because the spawner was refused. */
const makers = ['box', 'bubblewrap'] as const;

async function openReadOnly(directory: string, maker: (typeof makers)[number]) {
  const directoryFd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  const spawner: typeof sharedSpawner = {
    ...sharedSpawner,
    start: (request) =>
      maker === 'bubblewrap' && request.argv[0] === 'box'
        ? Promise.reject(new Error('not on this host'))
        : sharedSpawner.start(request),
  };
  const provider = createBubblewrap(
    { path: process.env.PATH ?? '', home: homedir() },
    { findInit, toArguments: toBwrapArguments, groups: findGroups(), spawner },
  );
  const sandbox = await provider.open({
    ...{ directoryFd, workspacePath: '/workspace', limits, readable: [], isReadOnly: true },
    network: { mode: 'deny-all' },
  });
  onTestFinished(async () => {
    await sandbox.close();
    closeSync(directoryFd);
  });
  return sandbox;
}

test.each(makers)('a read-only workspace can be read and not changed, in a sandbox made by %s', async (maker) => {
  const { directory } = makeFixture({ 'a.txt': 'inside', 'dir/b.txt': 'below', '.git/config': '[core]\n' });
  mkdirSync(`${directory}/empty`);
  const sandbox = await openReadOnly(directory, maker);
  expect((await shellIn(sandbox, 'cat a.txt dir/b.txt .git/config')).stdout).toBe('insidebelow[core]\n');
  const attempts = [
    ...['echo x > a.txt', 'echo x > new.txt', 'rm a.txt', 'mkdir new', 'mv a.txt b.txt', 'ln -s /etc link'],
    ...['chmod 777 a.txt', 'touch -d 2001-01-01 a.txt', 'truncate -s 0 dir/b.txt', 'rmdir empty'],
    ...['mount -o remount,rw /workspace', 'mkdir -p .git/hooks'],
  ];
  for (const attempt of attempts) {
    const { code, stderr } = await shellIn(sandbox, attempt);
    expect({ attempt, failed: code !== 0, stderr }).toMatchObject({ attempt, failed: true });
  }
  expect(readdirSync(directory).sort()).toEqual(['.git', 'a.txt', 'dir', 'empty']);
  expect(readdirSync(`${directory}/.git`)).toEqual(['config']);
  expect(readFileSync(`${directory}/a.txt`, 'utf8')).toBe('inside');
  expect((await shellIn(sandbox, 'echo own > ~/x && echo own > /tmp/x && cat ~/x /tmp/x')).stdout).toBe('own\nown\n');
});
