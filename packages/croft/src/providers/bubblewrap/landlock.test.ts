import { readdirSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openSandbox, operator } from '../../../test/support/sandboxes/open-sandbox.ts';
import { findInit } from '../../init/find-init.ts';
import { findGroups } from '../../lib/cgroup/find-groups.ts';
import { toBwrapArguments } from './bwrap-arguments.ts';
import { createBubblewrap } from './provider.ts';

/** Opens a sandbox as if a mount had gone wrong: a directory of this machine is inside and writable. */
async function openWithHole() {
  const [fixture, outside] = [makeDirectory(), makeDirectory({ 'canary.txt': 'alive' })];
  const parts = {
    findInit,
    groups: findGroups(),
    toArguments: (options: Parameters<typeof toBwrapArguments>[0]) => [
      '--bind',
      outside.at('.'),
      '/hole',
      ...toBwrapArguments(options),
    ],
  };
  onTestFinished(() => {
    fixture[Symbol.dispose]();
    outside[Symbol.dispose]();
  });
  const sandbox = await openSandbox(fixture.path, { provider: createBubblewrap(operator, parts) });
  return { sandbox, outside };
}

test('a file that a mount exposes by mistake cannot be changed', async () => {
  const { sandbox, outside } = await openWithHole();
  expect((await shellIn(sandbox, 'cat /hole/canary.txt')).stdout).toBe('alive');
  const attacks = [
    'echo evil > /hole/canary.txt',
    'echo evil > /hole/new',
    'rm /hole/canary.txt',
    'mv /hole/canary.txt /hole/x',
    'ln /hole/canary.txt here',
    'mkdir /hole/d',
    'ln -s x /hole/l',
    'truncate -s 0 /hole/canary.txt',
  ];
  for (const attack of attacks) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
  expect(readdirSync(outside.at('.'))).toEqual(['canary.txt']);
  writeFileSync(outside.at('canary.txt'), 'changed by us');
  expect((await shellIn(sandbox, 'cat /hole/canary.txt')).stdout).toBe('changed by us');
});

test('the directories that programs may write can be written', async () => {
  const { sandbox } = await openWithHole();
  const script = `set -e; echo a > a; mkdir d; mv a d/b; ln d/b c; ln -s c l; mkfifo f; truncate -s 9 c; rm -r d
    for at in /tmp /home/croft /dev/shm; do echo x > $at/x; rm $at/x; done; echo x > /dev/null; stty -a < /dev/ptmx > /dev/null
    chmod 600 c; touch -d yesterday c; cp c /tmp/c; mv /tmp/c back`;
  expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stderr: '' });
});
