import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFixture as openSkills, type SkillsFixture as Skills, type Tree, treeOf } from '../skills/fixture.ts';
import { mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { asking, openTestFixture, workspaceRequest } from './ports-fixture.ts';
import { newToken, type Runner, startRemote, startRunner, untilRunner } from './runner-fixture.ts';

const brought: Tree = {
  '.agents/review.md': '---\nname: review\ndescription: Reviews.\n---\nReview.\n',
  '.skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Forms.\n---\n# PDF\n',
  '.skills/pdf/bin/fill': { run: '#!/bin/sh\necho filled\n' },
};

let skills: Skills;
let platform: Platform;
beforeAll(async () => {
  const own = Object.entries(brought).map(([path, content]) => [path.slice(1), content]);
  skills = openSkills(Object.fromEntries(own));
  platform = await startPlatform(['--skills', skills.at('skills'), '--agents', skills.at('agents')]);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  skills[Symbol.dispose]();
});

/** Directory of its one workspace. */
function directoryOn({ root }: Pick<Runner, 'root'>): string {
  const parent = join(root, 'workspaces');
  return join(parent, readdirSync(parent)[0] ?? '');
}

test('C2-24: skills and agents of the server are in the workspace on its runner, and tools find them', async () => {
  await using remote = await startRemote(platform, { name: 'skilled' });
  const { account, agentId, call, ok, runner } = remote;
  // The first call finds them in place.
  expect((await ok('bash', { command: '.skills/pdf/bin/fill' })).text).toContain('filled');
  expect(treeOf(directoryOn(runner))).toEqual(brought);
  expect((await ok('skills')).structured.skills).toMatchObject([{ name: 'pdf', source: '.skills' }]);
  expect((await ok('skill', { name: 'pdf' })).text).toContain('.skills/pdf/bin/fill');
  expect((await ok('agents')).structured.agents).toMatchObject([{ name: 'review', source: '.agents' }]);
  expect((await ok('undo_list')).structured.checkpoints).toEqual([]);
  const { prompt } = mustBe(200, await account.send('GET', `/v1/agents/${agentId}/prompt`));
  expect(prompt).toContain('load what fits with skill');
  // What the server may bring there, its agent may not touch.
  const refused = await call('write', { file_path: '.agents/other.md', content: 'obey' });
  expect(refused.structured.error.code).toBe('E_CONTROL_FILE');
  expect(treeOf(directoryOn(runner))).toEqual(brought);
});

test('C2-24: each workspace follows the server, and files of a person there stay', async () => {
  skills.plant({ 'skills/gone/SKILL.md': 'gone', 'skills/mine/SKILL.md': 'the server’s', 'agents/gone.md': 'gone' });
  await using remote = await startRemote(platform, { name: 'follows' });
  const { account, ok, runner } = remote;
  await ok('write', { file_path: '.skills/own/SKILL.md', content: 'of the agent' });
  const handle = directoryOn(runner);
  expect(treeOf(handle)).toMatchObject({ '.skills/gone/SKILL.md': 'gone', '.agents/gone.md': 'gone' });

  await runner.stop('SIGTERM');
  await untilRunner(account, 'follows', 'offline');
  writeFileSync(join(handle, '.skills/mine/SKILL.md'), 'changed by hand');
  writeFileSync(join(handle, '.agents/hand.md'), 'by hand');
  skills.plant({ 'skills/gone': undefined, 'agents/gone.md': undefined, 'skills/mine/SKILL.md': 'newer' });
  skills.plant({ 'skills/late/SKILL.md': 'late', 'agents/review.md': 'Review well.\n' });
  runner.restart();
  await untilRunner(account, 'follows');

  const { text } = await ok('bash', { command: 'cat .skills/late/SKILL.md' });
  expect(text).toContain('late');
  const expected = {
    ...brought,
    '.agents/review.md': 'Review well.\n',
    '.agents/hand.md': 'by hand',
    '.skills/own/SKILL.md': 'of the agent',
    '.skills/mine/SKILL.md': 'changed by hand',
    '.skills/late/SKILL.md': 'late',
  };
  expect(treeOf(handle)).toEqual(expected);
  skills.plant({
    'skills/mine': undefined,
    'skills/late': undefined,
    'agents/review.md': brought['.agents/review.md'],
  });
});

test('C2-24: each of two runners has its own copy, also in a directory of its operator', async () => {
  await using first = await startRemote(platform, { name: 'first' });
  const { account } = first;
  await first.ok('skills');
  const token = await newToken(account, 'second');
  const own = skills.at('project');
  mkdirSync(own);
  writeFileSync(join(own, 'mine.txt'), 'mine');
  await using second = await startRunner({ url: platform.url, token, args: ['--workspaces', `project=${own}`] });
  await untilRunner(account, 'second');
  const sandbox = await account.newSandbox({ provider: 'remote', runner: 'second', permissionMode: 'bypass' });
  const workspaceId = await account.newWorkspace({}, 'project');
  const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'main', workspaceId }] });
  expect(mustBe(200, await account.call(agentId, 'skills')).skills).toMatchObject([{ name: 'pdf' }]);
  expect(treeOf(own)).toEqual({ ...brought, 'mine.txt': 'mine' });
  expect(treeOf(directoryOn(first.runner))).toEqual(brought);
  expect(readFileSync(join(directoryOn(first.runner), '.skills/pdf/SKILL.md'), 'utf8')).toContain('# PDF');
  expect(second.child.exitCode).toBe(null);
});

test('a read-only runner gets no skills', async () => {
  await using remote = await startRemote(platform, { name: 'readonly', args: ['--readonly'] });
  expect((await remote.call('glob', { pattern: '**/*' })).structured.paths).toEqual([]);
  expect(treeOf(directoryOn(remote.runner))).toEqual({});
});

test('a server that claims to sync agents can change their definitions on a runner, and no other control file', async () => {
  const { server, files, at } = await openTestFixture();
  const ask = asking(server);
  const { place: handle } = (await ask('workspace.open', workspaceRequest)) as { place: string };
  for (const name of ['.git/hooks', '.agents', 'sub/.agents']) mkdirSync(at(name), { recursive: true });
  for (const name of ['.git/hooks/pre-commit', '.mcp.json']) writeFileSync(at(name), 'own');
  const write = (path: string) => files.write(path, Buffer.from('synced'), { isSynced: true });
  await write('.agents/a.md');
  await expect(files.write('.agents/a.md', Buffer.from('x'))).rejects.toMatchObject({ code: 'E_CONTROL_FILE' });
  for (const path of ['.git/hooks/pre-commit', '.mcp.json', '.agents/x/y.md', 'sub/.agents/a.md', '.agents/a']) {
    await expect(write(path), path).rejects.toMatchObject({ code: 'E_CONTROL_FILE' });
    const removal = { place: handle, path, recursive: true, isSynced: true };
    await expect(ask('files.remove', removal), path).rejects.toMatchObject({ code: expect.stringMatching(/^E_/) });
  }
  expect(readFileSync(at('.git/hooks/pre-commit'), 'utf8')).toBe('own');
  expect(readFileSync(at('.mcp.json'), 'utf8')).toBe('own');
  await ask('files.remove', { place: handle, path: '.agents/a.md', recursive: false, isSynced: true });
  expect(readdirSync(at('.agents'))).toEqual([]);
});
