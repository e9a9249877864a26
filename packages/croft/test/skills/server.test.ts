import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';
import { describe, expect, test, vi } from 'vitest';
import { temporaryPrefix } from '../../src/core/files/temporary-prefix.ts';
import { connectStdio, croft, runCroft } from '../support/harness.ts';
import { mustBe, startPlatform } from '../support/servers/platform.ts';
import { manifest, openFixture, type Tree } from './fixture.ts';

const server: Tree = {
  'skills/pdf/SKILL.md': '---\nname: pdf\ndescription: Forms.\n---\n# PDF\n',
  'skills/pdf/bin/fill': { run: '#!/bin/sh\necho filled\n' },
  'agents/review.md': '---\nname: review\ndescription: Reviews.\n---\nReview.\n',
  'work/a.txt': 'a\n',
};

function flagsOf(fixture: ReturnType<typeof openFixture>): string[] {
  return ['--skills', fixture.at('skills'), '--skills', fixture.at('more'), '--agents', fixture.at('agents')];
}

/** One call of the program, which brings everything before it. */
function readOnce(fixture: ReturnType<typeof openFixture>) {
  return runCroft(['tool', 'read', '{"file_path":"a.txt"}', '--workspace', fixture.at('work'), ...flagsOf(fixture)]);
}

function eventsOf(file: string) {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => LifecycleEvent.parse(JSON.parse(line))).filter(({ event }) => event.includes('skills'));
}

describe('croft with --skills and --agents', () => {
  test('has them in place for the first call, and their files belong to no call', async () => {
    using fixture = openFixture(server);
    const flags = ['--workspace', fixture.at('work'), ...flagsOf(fixture), '--events', fixture.at('events')];
    await using session = await connectStdio(flags);
    const ran = await session.call('bash', { command: '.skills/pdf/bin/fill && cat .agents/review.md' });
    expect(ran.text).toContain('filled');
    expect((await session.call('skills')).structured.skills).toMatchObject([{ name: 'pdf', source: '.skills' }]);
    expect((await session.call('agents')).structured.agents).toMatchObject([{ name: 'review', source: '.agents' }]);
    expect((await session.call('undo_list')).structured.checkpoints).toEqual([]);
    await session.call('write', { file_path: 'b.txt', content: 'b' });
    const { checkpoints } = (await session.call('undo_list')).structured;
    expect(checkpoints).toMatchObject([{ paths: 1 }]);
    expect((await session.call('undo')).isError).toBe(false);
    expect(existsSync(fixture.at('work/.skills/pdf/SKILL.md'))).toBe(true);
    // A client may start the program more than once to find out what it speaks.
    const { written, unchanged, ...fields } = eventsOf(fixture.at('events')).at(-1)?.fields ?? {};
    expect(fields).toEqual({ workspace: 'work', removed: 0, skipped: 0, conflicts: [] });
    expect(Number(written) + Number(unchanged)).toBe(3);
  });

  test('keeps an edit of the agent, and reports it to the operator, without failing calls', async () => {
    using fixture = openFixture({ ...server, 'work/.skills/pdf/SKILL.md': 'mine' });
    const run = await readOnce(fixture);
    expect(run).toMatchObject({ exitCode: 0, stdout: '1\ta\n' });
    expect(run.stderr).toContain('.skills/pdf/SKILL.md (there is another file of that name)');
    expect(fixture.tree()).toMatchObject({
      '.skills/pdf/SKILL.md': 'mine',
      '.skills/pdf/bin/fill': server['skills/pdf/bin/fill'],
    });
  });

  test('that cannot be copied are a warning, and no call fails', async () => {
    using fixture = openFixture({ ...server, 'work/main.ts': '{}' });
    symlinkSync('main.ts', fixture.at('work/.skills'));
    const run = await readOnce(fixture);
    expect(run).toMatchObject({ exitCode: 0, stdout: '1\ta\n' });
    expect(run.stderr).toContain('skills');
    expect(readFileSync(fixture.at('work/main.ts'), 'utf8')).toBe('{}');
  });

  test('copies nothing into a read-only workspace', async () => {
    using fixture = openFixture(server);
    const flags = ['--workspace', fixture.at('work'), '--readonly', ...flagsOf(fixture)];
    expect((await runCroft(['tool', 'skills', ...flags])).stdout).toContain('no skills');
    expect(fixture.tree()).toEqual({ 'a.txt': 'a\n' });
  });

  test('does not start with a missing directory', async () => {
    using fixture = openFixture(server);
    const run = await runCroft(['tool', 'skills', '--workspace', fixture.at('work'), '--skills', fixture.at('absent')]);
    expect(run.exitCode).not.toBe(0);
    expect(run.stderr).toMatch(/directory of skills or agents .*absent/);
  });

  test('killed during the copy, copies the rest the next time', async () => {
    using fixture = openFixture(server);
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`skills/many/f${at}`, `${at}`]));
    fixture.plant({ ...many, 'skills/many/SKILL.md': 'many' });
    const flags = ['--workspace', fixture.at('work'), ...flagsOf(fixture)];
    const env = { ...process.env, CROFT_DATA: fixture.at('data') };
    const child = spawn(croft, ['tool', 'skills', ...flags], { stdio: 'ignore', env });
    const exited = once(child, 'exit');
    await Promise.race([someOf(fixture.at('work')), exited]);
    child.kill('SIGKILL');
    await exited;
    expect(existsSync(fixture.at(`work/.skills/${manifest}`))).toBe(true);
    fixture.plant({ 'skills/many/f7': 'changed', 'skills/many/f8': undefined });
    const run = await runCroft(['tool', 'skill', '{"name":"many"}', ...flags]);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    const tree = fixture.tree();
    expect(Object.keys(tree).filter(isWhole)).toHaveLength(300);
    expect(tree).toMatchObject({ '.skills/many/f7': 'changed', '.agents/review.md': server['agents/review.md'] });
  });
});

test('agents of accounts have the skills of the server where they can work, and are told so', async () => {
  using fixture = openFixture(server);
  await using platform = await startPlatform(flagsOf(fixture));
  const account = await platform.newAccount();
  const workspaceId = await account.newWorkspace();
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const reader = await account.newAgent({ workspaces: [{ name: 'w', workspaceId, sandbox: null }] });
  expect(mustBe(200, await account.call(reader, 'glob', { pattern: '.skills/**' })).paths).toEqual([]);
  const agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const { prompt } = mustBe(200, await account.send('GET', `/v1/agents/${agent}/prompt`));
  expect(prompt).toContain('load what fits with skill');
  const answer = mustBe(200, await account.call(agent, 'skill', { name: 'pdf' }));
  expect(JSON.stringify(answer)).toContain('.skills/pdf/bin/fill');
  const list = mustBe(200, await account.call(agent, 'undo_list'));
  expect(list.checkpoints).toEqual([]);

  fixture.plant({ 'skills/pdf': undefined, 'skills/other/SKILL.md': 'other' });
  const next = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
  const { skills } = mustBe(200, await account.call(next, 'skills'));
  expect(skills).toMatchObject([{ name: 'other' }]);
});

/** Not what a killed writer left, which goes away later. */
function isWhole(path: string): boolean {
  return path.startsWith('.skills/many/') && !path.includes(temporaryPrefix);
}

async function someOf(root: string): Promise<void> {
  const paths = Array.from({ length: 300 }, (_, at) => `${root}/.skills/many/f${at}`);
  await vi.waitUntil(() => paths.some((path) => existsSync(path)), { interval: 5 });
}
