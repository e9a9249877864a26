import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import type { ToolAnswer } from '../support/harness.ts';
import { openWithStubs, processesIn, startWithStubs } from './server-fixture.ts';

const typescript = { 'tsconfig.json': '{}', 'a.ts': 'export const one = 1;\nexport const two = one;\n' };
const zig = (mode: string) => ({ 'a.zig': 'const old = 1;\n', mode });

/** Takes half a minute, so that it is asked at the beginning and answered at the end. */
let incomplete: { answer: Promise<ToolAnswer>; close(): Promise<void> } | undefined;
beforeAll(async () => {
  const { call, close } = await startWithStubs({ 'a.php': 'const old = 1;\n', mode: 'indexing' });
  const answer = call('find_definition', { file_path: 'a.php', line: 1, symbol: 'old' });
  // Tests that are run alone do not wait for it.
  answer.catch(() => {});
  incomplete = { answer, close };
});
afterAll(() => incomplete?.close());

describe('a server process', () => {
  test('that is killed is started again for the next call, and there is one for ten callers', async () => {
    const { call, workspace } = await openWithStubs(typescript);
    const ask = () => call('find_definition', { file_path: 'a.ts', line: 2, symbol: 'one' });
    const first = await Promise.all(Array.from({ length: 10 }, ask));
    expect(first.map(({ structured }) => structured.items?.[0]?.line)).toEqual(Array(10).fill(1));
    const [server = 0, ...others] = processesIn(workspace, '--lsp');
    expect(others).toEqual([]);
    process.kill(server, 'SIGKILL');
    expect((await ask()).structured).toMatchObject({
      precision: 'server',
      items: [{ path: 'a.ts', line: 1, col: 14 }],
    });
    expect(processesIn(workspace, '--lsp')).not.toContain(server);
  });

  test('is gone a moment after Croft was killed', async () => {
    const { call, workspace, transport } = await openWithStubs({ ...typescript, 'm.py': 'x = 1\n' });
    await call('find_definition', { file_path: 'a.ts', line: 2, symbol: 'one' });
    await call('hover', { file_path: 'm.py', line: 1, symbol: 'x' });
    expect(processesIn(workspace, '--lsp')).toHaveLength(1);
    expect(processesIn(workspace, 'langserver.index.js')).toHaveLength(1);
    process.kill((transport as StdioClientTransport).pid ?? 0, 'SIGKILL');
    const left = () => [...processesIn(workspace, '--lsp'), ...processesIn(workspace, 'langserver.index.js')];
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 5000, interval: 50 });
  });

  test('that cannot start is tried five times, and again when files change', async () => {
    const { call, set } = await openWithStubs(zig('crash'));
    const ask = () => call('hover', { file_path: 'a.zig', line: 1, symbol: 'old' });
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const answer = await ask();
      expect(codeOf(answer)).toBe('E_CODE_SERVER');
      expect(messageOf(answer)).toMatch(/could not be started: it ended with 3; its last words: boom/);
    }
    expect(messageOf(await ask())).toMatch(
      /is not started any more after 5 failures in a row, until files change.*boom/,
    );
    set('mode', 'plain');
    expect((await ask()).isError).toBe(false);
  });

  test.each(['huge', 'no-header'])('that sends nonsense (%s) is ended, and the error says why', async (mode) => {
    const { call } = await openWithStubs(zig(mode));
    const answer = await call('find_definition', { file_path: 'a.zig', line: 1, symbol: 'old' });
    expect(codeOf(answer)).toBe('E_CODE_SERVER');
    expect(messageOf(answer)).toMatch(
      /ended before it answered: it sent a message (of 209715200 bytes|without a valid)/,
    );
  });
});

test('a server that needs more memory than it may have is ended, and the others live', async () => {
  const { call } = await openWithStubs({ ...typescript, ...zig('eat') });
  const one = { file_path: 'a.ts', line: 2, symbol: 'one' };
  expect((await call('find_definition', one)).structured).toMatchObject({ precision: 'server' });
  const answer = await call('find_definition', { file_path: 'a.zig', line: 1, symbol: 'old' });
  expect(codeOf(answer)).toBe('E_CODE_SERVER');
  expect(messageOf(answer)).toMatch(/memory/);
  expect((await call('find_definition', one)).structured).toMatchObject({ precision: 'server' });
});

test('diagnostics of an older version that come late are not taken for those of the file', async () => {
  const { call, set } = await openWithStubs(zig('late'));
  for (let round = 1; round <= 3; round += 1) {
    set('a.zig', `const old = ${round};\n`);
    const { structured } = await call('diagnostics', { file_path: 'a.zig' });
    expect(structured.items).toMatchObject([{ message: expect.stringMatching(/^of version \d+$/) }]);
  }
});

describe('a rename that a hostile server proposes', () => {
  test.each([
    ['rename-outside', 'E_SANDBOX_VIOLATION', /wants to change \/etc\/x, outside the workspace/],
    ['rename-up', 'E_SANDBOX_VIOLATION', /outside the workspace/],
    ['rename-overlap', 'E_CODE_SERVER', /nothing was changed: .* overlap/],
    ['rename-control', 'E_CONTROL_FILE', /\.vscode/],
  ])('%s is refused as a whole', async (mode, code, words) => {
    const { call, workspace } = await openWithStubs({ ...zig(mode), '.vscode/tasks.json': '{}\n' });
    await call('read', { file_path: 'a.zig' });
    const answer = await call('rename_symbol', {
      file_path: 'a.zig',
      line: 1,
      symbol: 'old',
      new_name: 'new',
      apply: true,
    });
    expect(codeOf(answer)).toBe(code);
    expect(messageOf(answer)).toMatch(words);
    expect(readFileSync(join(workspace, 'a.zig'), 'utf8')).toBe('const old = 1;\n');
    expect(existsSync('/etc/x')).toBe(false);
  });

  test('with a moved file changes and moves it together', async () => {
    const { call, workspace } = await openWithStubs(zig('rename-file'));
    await call('read', { file_path: 'a.zig' });
    const rename = { file_path: 'a.zig', line: 1, symbol: 'old', new_name: 'new', apply: true };
    expect((await call('rename_symbol', rename)).structured).toMatchObject({ applied: true });
    expect(readFileSync(join(workspace, 'moved.zig'), 'utf8')).toBe('const new = 1;\n');
    expect(existsSync(join(workspace, 'a.zig'))).toBe(false);
  });
});

describe('a hostile repository', () => {
  const canary =
    'const fs = require("fs"); for (const p of ["canary", "/tmp/canary"]) try { fs.writeFileSync(p, "ran") } catch {}';

  test('runs no plug-in and no compiler of its own, and no Python of its own', async () => {
    const marker = `#!/bin/sh\ntouch canary "$HOME/canary"; echo '{}'\n`;
    const { call, workspace } = await openWithStubs({
      'tsconfig.json': '{"compilerOptions":{"plugins":[{"name":"evil"}]}}',
      'a.ts': typescript['a.ts'],
      'node_modules/evil/index.js': canary,
      'node_modules/evil/package.json': '{"name":"evil","main":"index.js"}',
      'node_modules/typescript/lib/tsc.js': canary,
      'node_modules/@typescript/typescript-linux-x64/lib/tsc': marker,
      'm.py': 'import os\nx = os.sep\n',
      '.venv/bin/python': marker,
      '.venv/pyvenv.cfg': 'home = /usr/bin\n',
      '.venv/lib/python3.11/site-packages/evil.pth': 'import os; open("canary", "w")\n',
      'pyrightconfig.json': '{"venvPath": ".", "venv": ".venv"}',
    });
    for (const file of ['.venv/bin/python', 'node_modules/@typescript/typescript-linux-x64/lib/tsc'])
      chmodSync(join(workspace, file), 0o755);
    const found = await call('find_definition', { file_path: 'a.ts', line: 2, symbol: 'one' });
    expect(found.structured).toMatchObject({ precision: 'server', total: 1 });
    expect((await call('hover', { file_path: 'm.py', line: 2, symbol: 'os' })).isError).toBe(false);
    expect(existsSync(join(workspace, 'canary'))).toBe(false);
    expect(readFileSync(`/proc/${processesIn(workspace, '--lsp')[0]}/cmdline`, 'utf8')).not.toContain(workspace);
  });

  test('with strange names of files is answered', async () => {
    const raw = Buffer.concat([Buffer.from('caf'), Buffer.from([0xe9]), Buffer.from('.ts')]);
    const { call, workspace } = await openWithStubs({
      ...typescript,
      'new\nline%41 #?.ts': 'import { one } from "./a";\nexport const strange = one;\n',
    });
    writeFileSync(Buffer.concat([Buffer.from(`${workspace}/`), raw]), 'import { one } from "./a";\n');
    const { structured } = await call('find_references', { symbol: 'one', file_path: 'a.ts' });
    expect(structured.items).toMatchObject([
      { path: 'a.ts', line: 1 },
      { path: 'a.ts', line: 2 },
      { path: 'new\nline%41 #?.ts', line: 1 },
      { path: 'new\nline%41 #?.ts', line: 2 },
    ]);
  });
});

test('servers are off with --code syntax, and in no sandbox without isolation', async () => {
  const off = await openWithStubs(typescript, ['--code', 'syntax']);
  const question = { file_path: 'a.ts', line: 2, symbol: 'one' };
  expect((await off.call('find_definition', question)).structured).toMatchObject({ precision: 'text' });
  const none = await openWithStubs(typescript, ['--sandbox', 'none', '--network', 'allow-all']);
  const answer = await none.call('hover', question);
  expect(codeOf(answer)).toBe('E_NO_SERVER');
  expect(messageOf(answer)).toMatch(/--sandbox none cannot make a workspace read-only/);
});

test('a server that never finishes reading: the answer says that it may be incomplete', {
  timeout: 60_000,
}, async () => {
  const answer = await incomplete?.answer;
  expect(answer?.structured).toMatchObject({ complete: false, precision: 'server' });
  expect(answer?.text).toMatch(/still reads the project: ask again/);
});
