import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { codeOf, giveToNobody, messageOf } from '../e2e/shared-server.ts';
import { connectStdio, croft, makeDirectory, type ToolAnswer } from '../support/harness.ts';
import { openWithStubs, processesIn } from './server-fixture.ts';

const { stringify } = JSON;
const config = stringify({ compilerOptions: { module: 'esnext', moduleResolution: 'bundler', noEmit: true } });
const placesOf = ({ structured }: ToolAnswer): string[] =>
  structured.items.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`);

/** Replaces a file with the same text, again and again, until it is stopped. */
async function replaceAgainAndAgain(path: string): Promise<ChildProcess> {
  const work = `const fs = require("fs"), text = fs.readFileSync(${stringify(path)});
    for (;;) { fs.writeFileSync(${stringify(`${path}.new`)}, text); fs.renameSync(${stringify(`${path}.new`)}, ${stringify(path)}); }`;
  const child = spawn(process.execPath, ['-e', `console.log("runs");${work}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return child;
}

test('edits without end are E_STALE, and the answer is right after the last one', async () => {
  const { call, workspace } = await openWithStubs({ 'tsconfig.json': config, 'a.ts': '\nexport const racing = 1;\n' });
  const ask = () => call('find_definition', { file_path: 'a.ts', line: 2, symbol: 'racing' });
  expect(placesOf(await ask())).toEqual(['a.ts:2']);
  const writer = await replaceAgainAndAgain(join(workspace, 'a.ts'));
  // Where the processors are busy, an answer may come between two edits: then it is right.
  let answer = await ask();
  for (let tries = 0; tries < 20 && !answer.isError; tries++) {
    expect(placesOf(answer)).toEqual(['a.ts:2']);
    answer = await ask();
  }
  expect(codeOf(answer)).toBe('E_STALE');
  expect(messageOf(answer)).toMatch(/changed each time while the language server answered/);
  const ended = new Promise((resolve) => writer.once('exit', resolve));
  writer.kill('SIGKILL');
  await ended;
  expect(placesOf(await ask())).toEqual(['a.ts:2']);
});

test('3000 files that a command made and removed at once are known', async () => {
  const use = 'import { last } from "./many/f3000";\nexport const n = last;\n';
  const { call } = await openWithStubs({ 'tsconfig.json': config, 'use.ts': use });
  const errors = async () => (await call('diagnostics', { file_path: 'use.ts' })).structured.total;
  expect(await errors()).toBe(1);
  const make = 'mkdir many; for i in $(seq 3000); do echo "export const last = $i;" > many/f$i.ts; done';
  await call('bash', { command: make });
  expect(await errors()).toBe(0);
  expect(placesOf(await call('find_definition', { file_path: 'use.ts', line: 2, symbol: 'last' }))).toEqual([
    'many/f3000.ts:1',
  ]);
  await call('bash', { command: 'rm -r many' });
  expect(await errors()).toBe(1);
});

test('three projects of one workspace have one process, and each has its own settings', async () => {
  const names = ['one', 'two', 'three'];
  const files = names.flatMap((name, index) => [
    [`${name}/tsconfig.json`, stringify({ compilerOptions: { strict: index > 0, noEmit: true } })],
    [`${name}/a.ts`, `export const ${name}: string = null;\nexport const use = ${name};\n`],
  ]);
  const { call, workspace } = await openWithStubs(Object.fromEntries(files));
  for (const [index, name] of names.entries()) {
    const found = await call('find_definition', { file_path: `${name}/a.ts`, line: 2, symbol: name });
    expect(placesOf(found)).toEqual([`${name}/a.ts:1`]);
    const { structured } = await call('diagnostics', { file_path: `${name}/a.ts`, severity: 'error' });
    expect(structured.total).toBe(index === 0 ? 0 : 1);
  }
  expect(processesIn(workspace, '--lsp')).toHaveLength(1);
});

const renamed = { 'a/a.ts': 'export function first() {}\n', 'b/b.ts': 'import { first } from "../a/a";\nfirst();\n' };
const rename = { file_path: 'a/a.ts', symbol: 'first', new_name: 'second', apply: true };

test('a rename whose third file cannot be written restores the first two', async () => {
  using fixture = makeDirectory({ 'w/tsconfig.json': config, 'w/c/c.ts': renamed['b/b.ts'] });
  for (const [name, content] of Object.entries(renamed)) {
    mkdirSync(join(fixture.at('w'), name, '..'));
    writeFileSync(join(fixture.at('w'), name), content);
  }
  mkdirSync(fixture.at('data'));
  const owned = ['', 'data', 'w', 'w/a', 'w/b', 'w/a/a.ts', 'w/b/b.ts', 'w/c/c.ts', 'w/tsconfig.json'].map(fixture.at);
  giveToNobody(...owned);
  // Nothing can be put into this directory, by whomever.
  if (process.getuid?.() === 0) chownSync(fixture.at('w/c'), 0, 0);
  chmodSync(fixture.at('w/c'), 0o555);
  const lower = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const env = { CROFT_DATA: fixture.at('data'), HOME: fixture.at('data') };
  await using session = await connectStdio(['--workspace', fixture.at('w')], {
    env,
    cwd: '/',
    program: [...lower, croft],
  });
  await session.call('read', { file_path: 'a/a.ts' });
  const preview = await session.call('rename_symbol', { ...rename, apply: false });
  expect(preview.structured.files.map(({ path }: { path: string }) => path)).toEqual(['a/a.ts', 'b/b.ts', 'c/c.ts']);
  const answer = await session.call('rename_symbol', rename);
  expect(codeOf(answer)).toBe('E_PERMISSION_DENIED');
  for (const [name, content] of Object.entries(renamed))
    expect(readFileSync(fixture.at(`w/${name}`), 'utf8')).toBe(content);
  chmodSync(fixture.at('w/c'), 0o755);
});

test('a rename that is killed in the middle leaves each file whole', async () => {
  const name = (index: number) => `u${String(index).padStart(3, '0')}.ts`;
  const uses = Array.from({ length: 150 }, (_, index) => [name(index), renamed['b/b.ts'].replace('../a', './a')]);
  const files = { 'tsconfig.json': config, 'a/a.ts': renamed['a/a.ts'], ...Object.fromEntries(uses) };
  const { call, workspace, transport } = await openWithStubs(files);
  await call('read', { file_path: 'a/a.ts' });
  const answer = call('rename_symbol', rename).catch((thrown: Error) => thrown);
  const read = (file: string) => readFileSync(join(workspace, file), 'utf8');
  while (!read(name(20)).includes('second')) await new Promise((resolve) => setImmediate(resolve));
  process.kill((transport as StdioClientTransport).pid ?? 0, 'SIGKILL');
  expect(await answer).toBeInstanceOf(Error);
  const states = uses.map(([file = '', before = '']) => {
    expect([before, before.replaceAll('first', 'second')]).toContain(read(file));
    return read(file) === before;
  });
  expect(new Set(states)).toEqual(new Set([true, false]));
});
