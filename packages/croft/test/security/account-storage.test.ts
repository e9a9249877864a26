import { join } from 'node:path';
import { expect, test } from 'vitest';
import { measureTree } from '../../src/lib/disk-space/measure-tree.ts';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { mustBe, startPlatform } from '../support/servers/platform.ts';
import { megabyte, newWorkspace } from './quota-fixture.ts';

const measure = (data: string, parts: readonly string[]) =>
  Promise.all(parts.map((part) => measureTree(join(data, part)))).then((sizes) =>
    sizes.reduce((all, one) => all + one, 0),
  );

test('histories count towards the quota of an account, and are removed before files are refused', async () => {
  await using platform = await startPlatform(['--account-limit', 'storage=80m']);
  const account = await platform.newAccount();
  const { bash, call } = await newWorkspace(platform, account);
  for (let turn = 0; turn < 12; turn++) mustBe(200, await bash('head -c 12m /dev/urandom > large'));
  expect(await measure(platform.data, ['history'])).toBeLessThan(45 * megabyte);
  expect(await measure(platform.data, ['workspaces', 'history', 'caches'])).toBeLessThan(80 * megabyte);
  mustBe(200, await call('write', { file_path: 'small', content: 'still' }));
});

test('a write of a command over the quota of the account is reverted, and a smaller file passes', async () => {
  await using platform = await startPlatform(['--account-limit', 'storage=20m']);
  const account = await platform.newAccount();
  const { bash, call, put, expectRefused, listAll } = await newWorkspace(platform, account);
  mustBe(200, await bash('echo kept > a'));
  const { error } = (await bash('head -c 90m /dev/zero > large')).body;
  expect(error).toMatchObject({ code: 'E_QUOTA', details: { limit: 'storage', takenBack: ['large'] } });
  expect(Object.keys(listAll())).toEqual(['a']);
  expect(await put('b', 30 * megabyte)).toBe(409);
  expect(await put('b', 15 * megabyte)).toBe(201);
  await expectRefused(() => call('write', { file_path: 'c', content: 'x'.repeat(6 * megabyte) }));
  expect(await put('b', megabyte)).toBe(200);
});

test('package caches count: an account that has filled them runs no more commands and adds no more files', async () => {
  await using ownInstallation = openInstallation(['--account-limit', 'storage=20m']);
  const [first, ann] = await ownInstallation
    .start()
    .then(async (server) => [server, await addAccount(server, 'ann')] as const);
  const { agent, bash } = await newWorkspace(ownInstallation, ann);
  mustBe(200, await bash('head -c 30m /dev/zero > ~/.cache/large'));
  await kill(first);
  // A server that starts counts before it lets anything in.
  const again = moveTo(await ownInstallation.start(), ann);
  for (const [tool, input] of [
    ['bash', { command: 'true' }],
    ['write', { file_path: 'a', content: 'x' }],
    ['snapshot_create', { name: 'now' }],
  ] as const)
    expect((await again.call(agent, tool, input)).body.error).toMatchObject({ code: 'E_QUOTA' });
});
