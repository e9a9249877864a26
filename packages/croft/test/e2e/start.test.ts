import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { connectStdio, croft, makeDirectory, runCroft } from '../support/harness.ts';

const root = makeDirectory({ 'one/inner/a.txt': 'x\n' });
afterAll(() => root[Symbol.dispose]());

const main = join(import.meta.dirname, '../../src/main.ts');
const clientInfo = { name: 'test', version: '1' };
const handshake = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: handshake };
const listTools = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };
const toLines = (messages: readonly object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('');

test('the first answer loads only a small part of the program', async () => {
  // The sources: a file of the bundle holds many of them, cut where the sources import each other only when needed.
  const program = [process.execPath, `--import=${join(import.meta.dirname, '../fixtures/loaded-modules.mjs')}`, main];
  const env = { LOADED_MODULES: root.at('loaded.json') };
  await using session = await connectStdio(['--workspace', root.at('one')], { program, env, era: '2025' });
  const loaded: string[] = JSON.parse(readFileSync(root.at('loaded.json'), 'utf8'));
  const ours = loaded.flatMap((url) => /packages\/croft\/src\/(.*)/.exec(url)?.[1] ?? []);
  expect(ours).toContain('mcp/stdio/serve-mcp-stdio.ts');
  expect(ours).not.toContain('app.ts');
  expect(ours.filter((file) => /^(tools|providers|storages|history|linters|runners)\//.test(file)).length).toBeLessThan(
    3,
  );
  expect(loaded.length).toBeLessThan(250);
  // The rest is loaded on first use.
  expect(await session.call('read', { file_path: 'inner/a.txt' })).toMatchObject({ text: '1\tx\n', isError: false });
});

test('a wrong flag and a missing directory are reported before anything is answered', async () => {
  for (const args of [
    ['--network', 'some'],
    ['--workspace', root.at('absent')],
    ['--permission-mode', 'x'],
  ]) {
    const run = await runCroft(['mcp', ...args], { input: toLines([initialize]) });
    expect({ args, ...run }).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/./) });
  }
});

test('an error found only when workspaces are opened is the answer to the next request, and ends the program', async () => {
  const spec = `outer=${root.at('one')},inner=${root.at('one/inner')}`;
  const child = spawn(croft, ['mcp', '--workspaces', spec], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.write(toLines([initialize, listTools]));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const answers = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  expect(answers).toMatchObject([
    { id: 1, result: {} },
    { id: 2, error: { message: expect.stringContaining('inner') } },
  ]);
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('inner') });
});

test('a silent client has everything loaded for it, and one that disconnects ends the program', async () => {
  const child = spawn(croft, ['mcp', '--workspaces', `w=${root.at('one')}`], { stdio: ['pipe', 'pipe', 'pipe'] });
  const [said] = await once(child.stderr, 'data');
  expect(String(said)).toContain('1 workspaces configured (w)');
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});
