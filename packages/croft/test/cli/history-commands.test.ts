import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../support/servers/platform.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
let id: string;
const run: CliFixture['run'] = (...given) => fixture.run(...given);
const parsed = async (args: readonly string[]): Promise<Json> => JSON.parse((await run(args)).stdout);
const put = (path: string, input: string) => run(['files', 'put', '-', `notes:${path}`], { input });
const content = async (path: string) => (await run(['files', 'get', `notes:${path}`, '-'])).stdout;

beforeAll(async () => {
  fixture = await openCliFixture();
  id = await fixture.account.newWorkspace({}, 'notes');
});
afterAll(() => fixture[Symbol.asyncDispose]());

test('diff and undo show and take back what the last call changed, and undo can be undone', async () => {
  expect(await run(['diff', 'notes'])).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: expect.stringContaining('no call'),
  });
  expect(await put('plan.md', 'one\ntwo\n')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect(await put('plan.md', 'one\n2\n')).toMatchObject({ exitCode: 0 });
  expect((await run(['diff', 'notes'])).stdout).toBe('--- a/plan.md\n+++ b/plan.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n');
  expect((await run(['diff', 'notes', '--name-only'])).stdout).toBe('M\tplan.md\n');
  const [last, first] = (await run(['undo', 'notes', '--list', '-q'])).stdout.trim().split('\n');
  expect((await run(['diff', 'notes', '--call', first ?? '', '--name-only'])).stdout).toBe('A\tplan.md\n');
  const { body } = await fixture.account.send('GET', `/v1/workspaces/${id}/checkpoints/${last}/diff`);
  expect(await parsed(['diff', 'notes', '--json'])).toEqual(body);

  const undone = await run(['undo', 'notes']);
  expect(undone).toMatchObject({ exitCode: 0, stdout: 'M\tplan.md\n' });
  expect(await content('plan.md')).toBe('one\ntwo\n');
  const [, again = ''] = /to have it again: croft (.+)\n/.exec(undone.stderr) ?? [];
  expect(await run(again.split(' '))).toMatchObject({ exitCode: 0 });
  expect(await content('plan.md')).toBe('one\n2\n');
});

test('snapshots are made, listed, compared, restored and deleted', async () => {
  await put('a.txt', 'first\n');
  expect((await run(['snapshots', 'create', 'notes', 'monday', '--description', 'a start'])).stdout).toBe('monday\n');
  await put('a.txt', 'second\n');
  expect((await run(['snapshots', 'list', 'notes', '-q'])).stdout.split('\n')).toContain('monday');
  expect((await run(['snapshots', 'show', 'notes', 'monday'])).stdout).toContain('description\ta start\n');
  expect((await run(['snapshots', 'diff', 'notes', 'monday'])).stdout).toContain('-first\n+second\n');
  expect((await run(['diff', 'notes', '--since', 'monday', '--name-only'])).stdout).toBe('M\ta.txt\n');
  expect(await run(['snapshots', 'restore', 'notes', 'monday'])).toMatchObject({ exitCode: 0, stdout: 'M\ta.txt\n' });
  expect(await content('a.txt')).toBe('first\n');
  expect(await run(['snapshots', 'restore', 'notes'])).toMatchObject({ exitCode: 2 });
  expect(await run(['snapshots', 'delete', 'notes', 'monday'])).toMatchObject({ exitCode: 0 });
  expect(await run(['snapshots', 'show', 'notes', 'monday'])).toMatchObject({ exitCode: 3 });
});

test('a fork is made, worked in, merged and deleted', async () => {
  await put('shared.txt', 'base\n');
  const made = await run(['forks', 'create', 'notes', 'notes-try']);
  expect(made.stdout).toMatch(/^ws_\w+\n$/);
  expect((await run(['forks', 'list', 'notes', '-q'])).stdout).toBe(made.stdout);
  await run(['files', 'put', '-', 'notes-try:new.txt'], { input: 'of the fork\n' });
  expect(await run(['forks', 'merge', 'notes', 'notes-try'])).toMatchObject({ exitCode: 0, stdout: 'A\tnew.txt\n' });
  expect(await content('new.txt')).toBe('of the fork\n');

  await put('shared.txt', 'here\n');
  await run(['files', 'put', '-', 'notes-try:shared.txt'], { input: 'there\n' });
  expect(await run(['forks', 'merge', 'notes', 'notes-try'])).toMatchObject({ exitCode: 5, stdout: '' });
  expect(await content('shared.txt')).toBe('here\n');
  const merged = await run(['forks', 'merge', 'notes', 'notes-try', '--on-conflict', 'theirs']);
  expect(merged).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('both changed shared.txt') });
  expect(await content('shared.txt')).toBe('there\n');
  expect(await run(['forks', 'delete', 'notes', 'gone'])).toMatchObject({ exitCode: 3 });
  expect(await run(['forks', 'delete', 'notes', 'notes-try'])).toMatchObject({ exitCode: 0 });
  expect((await run(['forks', 'list', 'notes'])).stdout).toBe('');
});

describe('records', () => {
  test('are edited, and not if somebody else was quicker', async () => {
    await run(['sandboxes', 'create', 'box']);
    const edited = await run([
      'sandboxes',
      'edit',
      'box',
      '--config',
      '{"timeout": 60}',
      '--description',
      'slow',
      '--json',
    ]);
    expect(JSON.parse(edited.stdout)).toMatchObject({ version: 2, description: 'slow', config: { timeout: 60 } });
    const late = await run(['sandboxes', 'edit', 'box', '--name', 'late', '--if-version', '1']);
    expect(late).toMatchObject({ exitCode: 5, stdout: '' });
    expect(await run(['sandboxes', 'edit', 'box', '--if-version', 'new'])).toMatchObject({ exitCode: 2 });
    await run(['agents', 'create', 'writer', '--workspace', 'notes']);
    expect(await run(['agents', 'edit', 'writer', '--sandbox', 'box', '--name', 'author'])).toMatchObject({
      exitCode: 0,
    });
    const { agents } = await parsed(['agents', '--json']);
    expect(agents).toMatchObject([{ name: 'author', config: { workspaces: [{ name: 'notes' }] } }]);
    expect(agents[0].config.sandbox).toMatch(/^sb_/);
  });

  test('of accounts are made and deleted by the admin, and by nobody else', async () => {
    const env = { CROFT_ADMIN_TOKEN: 'admin-token-of-sufficient-length' };
    const made = await run(['accounts', 'create', 'bea'], { env });
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^croft_\S+\n$/) });
    const bea = { CROFT_KEY: made.stdout.trim() };
    expect((await run(['status'], { env: bea })).stdout).toContain('account\tbea\n');
    expect((await run(['accounts'], { env })).stdout).toContain('\tbea\tactive\t');
    expect(await run(['accounts'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('croft serve') });
    const wrong = { CROFT_ADMIN_TOKEN: 'another-token-of-sufficient-length' };
    expect(await run(['accounts'], { env: wrong })).toMatchObject({ exitCode: 4, stdout: '' });
    expect(await run(['accounts', 'delete', 'bea'], { env })).toMatchObject({ exitCode: 0 });
    expect(await run(['status'], { env: bea })).toMatchObject({ exitCode: 4 });
  });
});

test('status says which server and who, and ends with 7 without a server', async () => {
  const { stdout } = await run(['status']);
  expect(stdout).toContain(`server\t${fixture.platform.url}\n`);
  expect(stdout).toContain('account\tann\n');
  expect(await parsed(['status', '--json'])).toMatchObject({ account: 'ann', waiting: 0 });
  const down = await run(['status', '--server', 'http://127.0.0.1:2', '--key-file', fixture.own.at('key')]);
  expect(down).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('croft serve') });
});
