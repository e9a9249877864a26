import { afterAll, beforeAll, expect, test } from 'vitest';
import { croft, makeDirectory, runCroft } from '../support/harness.ts';
import { openPty } from '../support/pty.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;

beforeAll(async () => {
  fixture = await openCliFixture();
  await fixture.account.newWorkspace({}, 'a-workspace-with-a-long-name');
  await fixture.run(['files', 'put', '-', 'a-workspace-with-a-long-name:a.txt'], { input: 'a\n' });
});
afterAll(() => fixture[Symbol.asyncDispose]());

async function show(line: string, columns: number, env: Record<string, string> = {}): Promise<string> {
  using pty = openPty(`${croft} ${line}`, { columns, env: { ...fixture.env, ...env } });
  expect(await pty.ended()).toBe(0);
  return pty.text();
}

test('a table that does not fit is shown as blocks of whole rows', async () => {
  const wide = await show('workspaces', 120);
  expect(wide).toMatch(/^ID +NAME +STORAGE +RUNNER +CREATED\r\nws_\w+ +a-workspace-with-a-long-name +local +\S+Z\r\n$/);
  const narrow = await show('workspaces', 40);
  expect(narrow).toMatch(
    /^ID +ws_\w+\r\nNAME +a-workspace-with-a-long-name\r\nSTORAGE +local\r\nRUNNER\r\nCREATED +\S+Z\r\n$/,
  );
  expect(narrow.split('\r\n').every((line) => line.length <= 40)).toBe(true);
});

test('a diff has colours on a terminal, and none with NO_COLOR or in a pipe', async () => {
  const line = 'diff a-workspace-with-a-long-name';
  expect(await show(line, 100)).toContain('\u001b[32m+a\u001b[39m');
  expect(await show(line, 100, { NO_COLOR: '1' })).not.toContain('\u001b');
  expect((await fixture.run(line.split(' '))).stdout).toContain('\n+a\n');
});

test('croft tool prints no control sequence of a file, its name or an argument', async () => {
  using work = makeDirectory({ 'a\u001b]0;evil\u0007b.txt': 'one \u001b[31mred\u009b2J\n' });
  const tool = (name: string, input: object, ...more: string[]) =>
    runCroft(['tool', name, JSON.stringify(input), '--workspace', work.path, ...more]);
  expect((await tool('glob', { pattern: 'a*' })).stdout).toBe('ab.txt\n');
  expect((await tool('grep', { pattern: 'one', output_mode: 'content' })).stdout).toContain('one red');
  expect((await tool('read', { file_path: '\u001b[31mmissing' })).stderr).not.toContain('\u001b');
  expect((await tool('glob', { pattern: 'a*' }, '--json')).stdout).not.toContain('\u001b');
});
