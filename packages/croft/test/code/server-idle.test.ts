import { chmodSync, closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LanguageServerDefinition } from '../../src/core/code/ports/language-server-definition.ts';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { createLanguageServers } from '../../src/lsp/language-servers.ts';
import { makeDirectory } from '../support/harness.ts';
import { openSandbox } from '../support/sandboxes/open-sandbox.ts';
import { processesIn } from './server-fixture.ts';

const stub = join(import.meta.dirname, '../fixtures/language-server.mjs');
const { signal } = new AbortController();

/** Language servers of their own, with stand-ins that are stopped after 300 ms. */
function openServers(names: readonly string[], more: Partial<LanguageServerDefinition> = {}) {
  const fixture = makeDirectory({
    'bin/server.mjs': readFileSync(stub),
    'w/mode': 'plain',
    'w/a.zig': 'const old = 1;\n',
  });
  chmodSync(fixture.at('bin'), 0o755);
  const handle = openSync(fixture.at('w'), constants.O_RDONLY | constants.O_DIRECTORY);
  const toDefinition = (name: string): LanguageServerDefinition => ({
    ...{ name, languages: { [`.${name}`]: name }, program: { kind: 'path', name }, args: [name] },
    ...{ ready: { kind: 'always' }, memoryBytes: 2 ** 30, idleMs: 300, install: '', ...more },
  });
  const servers = createLanguageServers({
    ...{ workspace: 'w', mode: 'full', emit() {}, take: async () => new Set<string>() },
    definitions: names.map(toDefinition),
    files: createDiskFiles({ handle, names: [fixture.at('w')] }),
    findProgram: () => ({
      argv: [process.execPath, fixture.at('bin/server.mjs')],
      readable: [fixture.at('bin'), dirname(process.execPath)],
    }),
    openSandbox: (_, readable) => openSandbox(fixture.at('w'), { readable }),
  });
  onTestFinished(async () => {
    await servers.close();
    closeSync(handle);
    fixture[Symbol.dispose]();
  });
  const ask = (name: string) =>
    servers.use(toDefinition(name), { signal }, (server) => server.request('textDocument/definition', {}));
  const running = () => names.filter((name) => processesIn(fixture.path, name).length > 0);
  const setMode = (mode: string) => writeFileSync(fixture.at('w/mode'), mode);
  const pid = () => processesIn(fixture.path, names[0] ?? '')[0];
  return { servers, ask, running, setMode, pid };
}

test('a server that nobody asks is stopped, and started again by the next question', async () => {
  const { servers, ask, running } = openServers(['idle-a']);
  expect(await ask('idle-a')).toHaveLength(1);
  expect(running()).toEqual(['idle-a']);
  await vi.waitFor(() => expect(running()).toEqual([]), { timeout: 10_000, interval: 50 });
  expect(servers.isRunning('idle-a')).toBe(false);
  expect(await ask('idle-a')).toHaveLength(1);
});

test('a server that does not answer three times in a row is started anew', async () => {
  const { ask, setMode, pid } = openServers(['hang-a'], { requestMs: 500, idleMs: 60_000 });
  expect(await ask('hang-a')).toHaveLength(1);
  const before = pid();
  setMode('hang');
  for (let late = 1; late <= 3; late++)
    await expect(ask('hang-a')).rejects.toThrow(/did not answer textDocument\/definition: no answer in 0.5 s/);
  setMode('plain');
  await vi.waitFor(async () => expect(await ask('hang-a')).toHaveLength(1), { timeout: 60_000 });
  await vi.waitFor(() => expect([before, undefined]).not.toContain(pid()), { timeout: 60_000 });
});

test('of five servers of a workspace the least used one is stopped', async () => {
  const names = ['idle-1', 'idle-2', 'idle-3', 'idle-4', 'idle-5'];
  const { ask, servers } = openServers(names);
  for (const name of names) await ask(name);
  expect(servers.isRunning('idle-1')).toBe(false);
  expect(servers.isRunning('idle-5')).toBe(true);
});
