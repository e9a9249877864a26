import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packAll } from '../../../../scripts/pack.ts';
import { isIntact } from '../../src/lib/processes/native-files.ts';
import { makeDirectory } from '../support/harness.ts';

/** A user that no user of the machine is. Only root can become another user. */
const stranger = 60_418;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: stranger, gid: stranger } : {};

const directory = makeDirectory();
const { at } = directory;
const home = at('home');
const workspace = at('home/workspace');
const croft = at('project/node_modules/.bin/croft');
const nativePackage = at(`project/node_modules/@croft/linux-${process.arch}`);
// No compiler and nothing of this clone: the system's programs that Croft asks for, and Node.
const programs = ['bwrap', 'rg', 'git', 'bash', 'sh', 'env', 'ldd', 'cat', 'id'];

beforeAll(async () => {
  fs.chmodSync(directory.path, 0o755);
  for (const path of ['project', 'home', 'home/workspace', 'bin']) fs.mkdirSync(at(path));
  fs.writeFileSync(at('project/package.json'), '{ "name": "somebody", "private": true }');
  fs.writeFileSync(at('home/workspace/a.ts'), 'export function hello(name: string) { return name }\n');
  fs.symlinkSync(process.execPath, at('bin/node'));
  for (const name of programs) fs.symlinkSync(findProgram(name), at(`bin/${name}`));
  const { tarballs } = await packAll(at('tarballs'));
  installPackages(tarballs);
  for (const path of ['home', 'home/workspace', 'home/workspace/a.ts'])
    if (isRoot) fs.chownSync(at(path), stranger, stranger);
}, 240_000);

afterAll(() => directory[Symbol.dispose]());

function findProgram(name: string): string {
  const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => fs.existsSync(path));
  if (found === undefined) throw new Error(`${name} is not installed`);
  return found;
}

/** As npm 12 does: no script of a package runs. */
function installPackages(tarballs: readonly string[]): void {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const installed = spawnSync('npm', ['install', ...flags, ...tarballs], { cwd: at('project'), encoding: 'utf8' });
  expect(installed.status, installed.stderr).toBe(0);
}

function run(args: readonly string[], options: { readonly command?: string } = {}): SpawnSyncReturns<string> {
  const { command = croft } = options;
  return spawnSync(command, args, { ...user, cwd: home, encoding: 'utf8', env: environment(), timeout: 60_000 });
}

const environment = () => ({ HOME: home, PATH: at('bin') });

function call(tool: string, input: object): string {
  const { status, stdout, stderr } = run(['tool', tool, JSON.stringify(input), '--workspace', workspace]);
  expect(status, stderr).toBe(0);
  return stdout;
}

describe('the npm packages, installed by somebody without root, compiler and install scripts', () => {
  test('have no scripts, and nothing of the sources or tests', () => {
    const manifest = JSON.parse(fs.readFileSync(at('project/node_modules/croft/package.json'), 'utf8'));
    expect(manifest.scripts).toBeUndefined();
    expect(manifest.private).toBeUndefined();
    const names = fs.readdirSync(at('project/node_modules/croft'), { recursive: true, encoding: 'utf8' });
    // The types of the library are the only TypeScript.
    expect(names.filter((name) => name.endsWith('.ts') || name.includes('test'))).toEqual(['dist/create-croft.d.ts']);
    expect(fs.readFileSync(at('project/node_modules/croft/THIRD-PARTY-NOTICES.txt'), 'utf8')).toMatch(
      /^zod .*\(MIT\)/m,
    );
  });

  test('run: version, help, and a doctor that finds what agents need', () => {
    expect(run(['--version'])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^croft \d/), stderr: '' });
    const help = run(['help']);
    expect(help).toMatchObject({ status: 0, stderr: '' });
    const names = [...help.stdout.matchAll(/^ {2}croft (\w+)/gm)].map(([, name = '']) => name);
    expect(names).toEqual(expect.arrayContaining(['init', 'mcp', 'serve']));
    // Each is loaded from the bundle.
    for (const name of names) expect(run([name, '--help']), name).toMatchObject({ status: 0, stderr: '' });
    expect(run(['init', '--client', 'cursor', '--print']).stdout).toContain('croft.mjs');
    const doctor = run(['doctor']);
    expect(doctor.stdout).toMatch(/✓ init .*✓ sandbox .*✓ network /s);
    expect(doctor.status).toBe(0);
  });

  test('run commands in a sandbox, parse code, search by structure and draw', () => {
    expect(call('bash', { command: 'echo made > made; id -u' })).not.toBe('');
    expect(fs.readFileSync(join(workspace, 'made'), 'utf8')).toBe('made\n');
    expect(call('outline', { path: 'a.ts' })).toContain('hello');
    expect(call('find_definition', { symbol: 'hello' })).toContain('a.ts:1:17');
    expect(call('ast_search', { pattern: 'return $A', language: 'ts' })).toContain('a.ts:1:39');
    expect(call('render_dot', { source: 'digraph { a -> b }', output_path: 'a.png' })).toContain('(png)');
  });

  test('hold: an escape that is attempted fails', () => {
    const proof = run(['doctor', '--prove', 'A1', 'B27']);
    expect(proof.stdout).toMatch(/2 attempts: 2 held, 0 got out/);
  });

  test('serve MCP over stdio, with nothing but MCP on standard output', async () => {
    const child = spawn(croft, ['mcp', '--workspace', workspace], { ...user, cwd: home, env: environment() });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const ask = async (message: object) => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      return JSON.parse((await lines.next()).value ?? '{}');
    };
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    expect((await ask({ id: 1, method: 'initialize', params })).result.serverInfo.name).toBe('croft');
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    const read = { name: 'read', arguments: { file_path: 'a.ts' } };
    expect((await ask({ id: 2, method: 'tools/call', params: read })).result.content[0].text).toContain('hello');
    const ended = once(child, 'close');
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
  });

  test('serve over HTTP until they are told to stop', async () => {
    const args = ['serve', '--workspace', workspace, '--port', '0', '--data', join(home, 'data')];
    const child = spawn(croft, args, { ...user, cwd: home, env: environment() });
    const lines = createInterface({ input: child.stdout });
    let url: string | undefined;
    for await (const line of lines) {
      url = /http:\/\/[\w.]+:\d+/.exec(line)?.[0];
      if (url !== undefined) break;
    }
    child.stdout.resume();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const asBrowser = { headers: { Accept: 'text/html' } };
    expect(await (await fetch(`${url}/`, asBrowser)).text()).toContain('/assets/');
    const ended = once(child, 'close');
    // The launcher has become the server: the signal reaches it, and no process is left.
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  test('refuse a compiled file that is not the one of this version', () => {
    const [init, aside] = [join(nativePackage, 'croft-init'), at('init')];
    fs.renameSync(init, aside);
    fs.writeFileSync(init, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    expect(isIntact({ file: aside, expectedHash: hashOf('croft-init') })).toBe(true);
    const refused = run(['tool', 'bash', '{"command":"id"}', '--workspace', workspace]);
    expect(refused.stderr).toMatch(/the init of sandboxes is not the one that was compiled.*croft doctor --fix/s);
    fs.renameSync(aside, init);
  });

  test('say in one line that the compiled files are missing, and compile them where a compiler is', () => {
    fs.renameSync(nativePackage, at('aside'));
    const refused = run(['tool', 'bash', '{"command":"id"}', '--workspace', workspace]);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toMatch(/the init of sandboxes is missing.*croft doctor --fix/s);
    const fixed = run(['doctor', '--fix']);
    expect(fixed.stderr).toMatch(/^croft: compiled the native files into .*\/home\/\.cache\/croft\/native\/.*\n$/);
    expect(fixed.stdout).toMatch(/✓ sandbox /);
    expect(call('bash', { command: 'echo again' })).toContain('again');
    fs.renameSync(at('aside'), nativePackage);
  });

  test('say in one line that Node is too old', () => {
    const launcher = fs.readFileSync(at('project/node_modules/croft/bin/croft.mjs'), 'utf8');
    // A Node that says it is 22: its version is all that the launcher asks for before it stops.
    fs.writeFileSync(at('old.mjs'), `Object.defineProperty(process, 'versions', { value: { node: '22.1.0' } });\n`);
    fs.writeFileSync(at('project/old-launcher.mjs'), launcher);
    const old = run(['--import', at('old.mjs'), at('project/old-launcher.mjs'), 'help'], { command: at('bin/node') });
    expect(old).toMatchObject({ status: 1, stdout: '' });
    expect(old.stderr).toBe(
      'croft: this is Node 22.1.0, and croft needs Node 24 or newer; install it, then run croft again\n',
    );
  });
});

function hashOf(name: string): string {
  const hashes = JSON.parse(fs.readFileSync(at('project/node_modules/croft/native/hashes.json'), 'utf8'));
  return hashes[`@croft/linux-${process.arch}`][name];
}

test('the addon needs no library and no version of a function, so that it loads with any C library', () => {
  const addon = join(nativePackage, 'croft-files.node');
  const { stdout } = spawnSync('readelf', ['-dW', '--dyn-syms', addon], { encoding: 'utf8' });
  expect(stdout).toContain('napi_');
  expect(stdout).not.toMatch(/NEEDED|@GLIBC/);
});

test('the libraries are JavaScript with types', () => {
  const script = `import { createClient } from '@croft/sdk'; import { errorCatalog } from '@croft/protocol';
    console.log(typeof createClient, typeof errorCatalog);`;
  fs.writeFileSync(at('project/use.mjs'), script);
  expect(run([at('project/use.mjs')], { command: at('bin/node') }).stdout).toBe('function object\n');
  const all = `await Promise.all(['', '/ai', '/testing'].map((name) => import('@croft/sdk' + name)));`;
  fs.writeFileSync(at('project/all.mjs'), all);
  expect(run([at('project/all.mjs')], { command: at('bin/node') })).toMatchObject({ status: 0, stderr: '' });
  for (const name of ['sdk', 'protocol'])
    expect(fs.existsSync(at(`project/node_modules/@croft/${name}/dist/index.d.ts`))).toBe(true);
});

/** A program of somebody who checks every declaration that it reaches. */
const typedProgram = `import { createCroft } from 'croft';
import { Croft, CroftError, type Box } from '@croft/sdk';
import { type AiTools, aiSandbox, aiTools } from '@croft/sdk/ai';
import { createFakeCroft } from '@croft/sdk/testing';
import { errorCatalog } from '@croft/protocol';
export async function use(croft: Croft = new Croft()): Promise<number | null> {
  await using box: Box = await croft.open('notes');
  const { tools }: AiTools = await aiTools(box);
  const { exitCode } = await box.exec(['ls', Object.keys(tools)[0] ?? '']);
  await aiSandbox(box).run({ command: 'ls' });
  await using other = await createCroft();
  const approved: Promise<unknown> = createFakeCroft().approve.next();
  await Promise.all([approved, other.open('notes')]).catch((error: unknown) => {
    if (CroftError.is(error) && error.code === 'E_APPROVAL_DENIED') throw new Error(error.details.reason);
  });
  // @ts-expect-error: an exit code is a number.
  const text: string = exitCode;
  return exitCode ?? errorCatalog.E_NOT_FOUND.status + text.length;
}
`;

test.each(['node16', 'bundler'])('the types are whole for a program with moduleResolution %s', (moduleResolution) => {
  const root = join(import.meta.dirname, '../../../..');
  const project = at(`project/tsconfig.${moduleResolution}.json`);
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    ...{ target: 'es2024', lib: ['es2024', 'esnext.disposable'], moduleResolution },
    ...{ module: moduleResolution === 'bundler' ? 'esnext' : 'node16' },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  };
  fs.writeFileSync(at('project/typed.mts'), typedProgram);
  fs.writeFileSync(project, JSON.stringify({ compilerOptions, files: ['typed.mts'] }));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

test('the frameworks of the adapters are optional', () => {
  const manifest = JSON.parse(fs.readFileSync(at('project/node_modules/@croft/sdk/package.json'), 'utf8'));
  expect(Object.keys(manifest.peerDependencies)).toEqual(Object.keys(manifest.peerDependenciesMeta));
  expect(fs.existsSync(at('project/node_modules/ai'))).toBe(false);
});

test('a program has boxes of its own, without a server', () => {
  const script = `import { createCroft } from 'croft'; import { Croft } from '@croft/sdk';
    await using croft = await createCroft({ data: ${JSON.stringify(join(home, 'embedded'))} });
    await using box = await croft.open('notes');
    console.log(croft instanceof Croft, (await box.exec('echo inside; exit 3')).exitCode);`;
  fs.writeFileSync(at('project/embedded.mjs'), script);
  expect(run([at('project/embedded.mjs')], { command: at('bin/node') })).toMatchObject({ stdout: 'true 3\n' });
  expect(fs.readFileSync(at('project/node_modules/croft/dist/create-croft.d.ts'), 'utf8')).toContain('@croft/sdk');
});
