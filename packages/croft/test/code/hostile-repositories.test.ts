import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import { makeDirectory } from '../support/harness.ts';
import { findServer, openRealServer } from './installed-servers.ts';
import { openWithStubs } from './server-fixture.ts';

/** A port of this machine that nobody may reach, and how often somebody did. */
async function listen() {
  let connections = 0;
  const server = createServer().on('connection', (socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** A library that ends every process that loads it. */
function deadlyLibrary(): Buffer {
  using directory = makeDirectory({
    'evil.c': '#include <unistd.h>\n__attribute__((constructor)) static void evil(void) { _exit(99); }\n',
  });
  execFileSync('gcc', ['-shared', '-fPIC', '-o', directory.at('evil.so'), directory.at('evil.c')]);
  return execFileSync('cat', [directory.at('evil.so')]);
}

describe('code of a repository that a server runs', () => {
  test('reads nothing else, writes nothing, reaches nobody, and leaves nothing behind', async () => {
    using outside = makeDirectory({ 'secret.txt': 'the secret' });
    const { port, connections } = await listen();
    const canary = JSON.stringify({ secret: outside.at('secret.txt'), port, pid: process.pid });
    const files = { 'a.zig': 'const old = 1;\n', mode: 'escape', 'canary.json': canary };
    const { call, workspace, close } = await openWithStubs(files, [], { SERVER_CANARY: 'the secret' });
    const { structured } = await call('hover', { file_path: 'a.zig', line: 1, symbol: 'old' });
    expect(JSON.parse(structured.content)).toEqual({
      ...{ read: 'ENOENT', write: 'EROFS', remove: 'EROFS', connect: 'ECONNREFUSED', kill: 'ESRCH' },
      ...{ environment: 'nothing', left: true },
    });
    expect(connections()).toBe(0);
    expect(existsSync(join(workspace, 'canary'))).toBe(false);
    await close();
    const isLeft = () => spawnSync('pgrep', ['-f', `^sleep ${port + 100_000}$`]).status === 0;
    await vi.waitFor(() => expect(isLeft()).toBe(false), { timeout: 5000, interval: 50 });
  });

  test('is not run with --code safe', async () => {
    const { call } = await openWithStubs({ 'a.zig': 'const old = 1;\n', mode: 'escape' }, ['--code', 'safe']);
    const answer = await call('hover', { file_path: 'a.zig', line: 1, symbol: 'old' });
    expect(codeOf(answer)).toBe('E_NO_SERVER');
    expect(messageOf(answer)).toMatch(/zls is off in the mode safe: it runs build\.zig/);
  });
});

test('a Gradle wrapper of a repository that a Java server runs fetches nothing and writes nothing', async () => {
  const { port, connections } = await listen();
  const { call, workspace, set } = await openWithStubs({
    'A.java': 'class A {}\n',
    mode: 'wrapper',
    'gradle/wrapper/gradle-wrapper.properties': `distributionUrl=http\\://127.0.0.1\\:${port}/gradle.zip\n`,
  });
  set('gradlew', '#!/bin/sh\ntouch canary && echo written\nexit 3\n');
  chmodSync(join(workspace, 'gradlew'), 0o755);
  const { structured } = await call('hover', { file_path: 'A.java', line: 1, symbol: 'A' });
  expect(JSON.parse(structured.content)).toEqual({ fetched: 'ECONNREFUSED', printed: '', status: 3 });
  expect(connections()).toBe(0);
  expect(existsSync(join(workspace, 'canary'))).toBe(false);
});

test('ast_search loads no library that an sgconfig.yml of the workspace names', async () => {
  const { call, workspace } = await openWithStubs({
    'sgconfig.yml':
      'ruleDirs: []\ncustomLanguages:\n  evil:\n    libraryPath: evil.so\n    extensions: [ts]\n    languageSymbol: main\n',
    'a.ts': 'export const one = 1;\n',
  });
  writeFileSync(join(workspace, 'evil.so'), deadlyLibrary());
  const { structured } = await call('ast_search', { pattern: 'const $A = $B', language: 'typescript' });
  expect(structured.matches ?? structured.items).toHaveLength(1);
});

test.skipIf(!findServer('clangd'))(
  'clangd runs no compiler and loads no plug-in that the repository names',
  async () => {
    const evil = '#!/bin/sh\nkill -9 -1\n';
    const { call, workspace } = await openRealServer('clangd', {
      'a.c': 'int add_up(int a) { return a; }\nint main(void) { return add_up(1); }\n',
      '.clangd': 'CompileFlags:\n  Compiler: ./evil.sh\n  Add: [-fplugin=./evil.so]\n',
      'evil.sh': evil,
    });
    execFileSync('chmod', ['+x', join(workspace, 'evil.sh')]);
    writeFileSync(join(workspace, 'evil.so'), deadlyLibrary());
    const plugin = ['-fplugin=evil.so', '-Xclang', '-load', '-Xclang', './evil.so', '-fpass-plugin=./evil.so'];
    const command = [join(workspace, 'evil.sh'), ...plugin, '-c', 'a.c'];
    const database = [{ directory: workspace, file: 'a.c', arguments: command }];
    writeFileSync(join(workspace, 'compile_commands.json'), JSON.stringify(database));
    const { structured } = await call('find_references', { file_path: 'a.c', line: 1, symbol: 'add_up' });
    expect(structured).toMatchObject({ precision: 'server', total: 2 });
  },
);

test.skipIf(!findServer('gopls'))(
  'gopls downloads no toolchain, and cgo of the repository runs in the fence',
  async () => {
    const { port, connections } = await listen();
    const { call, workspace } = await openRealServer('gopls', {
      'go.mod': `module example.com/a\n\ngo 1.18\n`,
      'a.go':
        'package main\n\n// #cgo CFLAGS: -I/root\nimport "C"\n\nfunc addGo(a int) int { return a }\n\nfunc main() { addGo(1) }\n',
      'go.env': `GOPROXY=http://127.0.0.1:${port}\nGOTOOLCHAIN=go9.9\n`,
    });
    await call('find_definition', { file_path: 'a.go', line: 8, symbol: 'addGo' });
    expect(connections()).toBe(0);
    expect(execFileSync('ls', ['-A', workspace], { encoding: 'utf8' })).toBe('a.go\ngo.env\ngo.mod\n');
  },
);

test.skipIf(!findServer('vscode-json-language-server'))('a remote schema is not fetched', async () => {
  const { port, connections } = await listen();
  const { call } = await openRealServer('vscode-json-language-server', {
    'a.json': `{"$schema": "http://127.0.0.1:${port}/schema.json", "one": 1}\n`,
  });
  await call('diagnostics', { file_path: 'a.json' });
  expect(connections()).toBe(0);
});
