import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { makeDirectory } from '../support/harness.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
const run: CliFixture['run'] = (...given) => fixture.run(...given);

let control: string;
beforeAll(async () => {
  fixture = await openCliFixture(['--account-limit', 'requests=1000000']);
  await fixture.account.newWorkspace({}, 'notes');
  const workspaceId = await fixture.account.newWorkspace({}, 'control');
  control = join(fixture.platform.data, 'workspaces', namespaceOf(fixture.account.accountId, workspaceId));
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Writes into the directory of the workspace `control`, as somebody who is no agent. */
function writeInWorkspace(folder: string, path: string): void {
  const file = join(control, folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, path);
}

test('files are put, listed and got, byte for byte, and a file that is new only if it is new', async () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256));
  using local = makeDirectory({ 'image.bin': bytes });
  const cwd = local.path;
  expect(await run(['files', 'put', 'image.bin', 'notes:art/'], { cwd })).toEqual({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
  expect((await run(['files', 'ls', 'notes:art', '-q'])).stdout).toBe('art/image.bin\n');
  expect((await run(['files', 'ls', 'notes', '-r'])).stdout).toMatch(
    /^directory\t\t\S+\tart\nfile\t70000\t\S+\tart\/image.bin\n$/,
  );
  expect(await run(['files', 'get', 'notes:art/image.bin', 'copy'], { cwd })).toMatchObject({ exitCode: 0 });
  expect(readFileSync(local.at('copy')).equals(bytes)).toBe(true);
  expect(await run(['files', 'put', 'image.bin', 'notes:art/', '--new'], { cwd })).toMatchObject({ exitCode: 5 });
  expect(await run(['files', 'get', 'notes:absent'], { cwd })).toMatchObject({ exitCode: 3 });
  expect(await run(['files', 'put', 'absent', 'notes:'], { cwd })).toMatchObject({ exitCode: 2 });
  expect(await run(['files', 'ls', 'some/path'])).toMatchObject({ exitCode: 2 });
});

test('a sync sends what differs, deletes only if asked, and the second one sends nothing', async () => {
  using local = makeDirectory({
    'a.txt': 'a\n',
    'sub/b.txt': 'b\n',
    '.git/config': 'own\n',
    'large.bin': Buffer.alloc(2_000_000, 7),
  });
  const sync = async (...more: string[]) =>
    JSON.parse((await run(['files', 'sync', local.path, 'notes:tree', '--json', ...more])).stdout);
  expect(await sync('--dry-run')).toMatchObject({ sent: 3, same: 0 });
  expect(await sync()).toMatchObject({ sent: 3, deleted: 0, same: 0 });
  expect(await sync()).toMatchObject({ sent: 0, deleted: 0, same: 3 });
  writeFileSync(local.at('a.txt'), 'A\n');
  writeFileSync(local.at('large.bin'), Buffer.alloc(2_000_000, 8));
  expect(await sync()).toMatchObject({ sent: 2, same: 1 });
  await run(['files', 'put', '-', 'notes:tree/extra.txt'], { input: 'x\n' });
  expect(await sync()).toMatchObject({ sent: 0, deleted: 0, same: 3 });
  expect(await sync('--delete')).toMatchObject({ sent: 0, deleted: 1, same: 3 });

  using back = makeDirectory({ 'old.txt': 'old\n' });
  const pulled = await run(['files', 'sync', 'notes:tree', back.path]);
  expect(pulled).toMatchObject({ exitCode: 0, stdout: 'A\ta.txt\nA\tlarge.bin\nA\tsub/b.txt\n' });
  expect(pulled.stderr).toContain('sent 3, deleted 0, 0 the same');
  expect(readFileSync(back.at('large.bin')).equals(readFileSync(local.at('large.bin')))).toBe(true);
  expect(existsSync(back.at('old.txt'))).toBe(true);
  expect((await run(['files', 'sync', 'notes:tree', back.path, '--delete'])).stdout).toBe('D\told.txt\n');
  expect(existsSync(back.at('old.txt'))).toBe(false);
  for (const both of [
    [local.path, back.path],
    ['notes:a', 'notes:b'],
  ])
    expect(await run(['files', 'sync', ...both])).toMatchObject({ exitCode: 2 });
});

test('10,000 files that are the same on both sides are compared, and none is sent', async () => {
  const sandbox = await fixture.account.newSandbox({ permissionMode: 'bypass' });
  const workspaceId = await fixture.account.newWorkspace({}, 'many');
  const agent = await fixture.account.newAgent({ sandbox, workspaces: [{ name: 'many', workspaceId }] });
  const command = 'for d in $(seq 100); do mkdir $d; for f in $(seq 100); do echo $d-$f > $d/$f; done; done';
  expect(await fixture.account.call(agent, 'bash', { command })).toMatchObject({ status: 200, body: { exitCode: 0 } });
  using local = makeDirectory();
  for (let folder = 1; folder <= 100; folder++) {
    mkdirSync(local.at(`${folder}`));
    for (let file = 1; file <= 100; file++) writeFileSync(local.at(`${folder}/${file}`), `${folder}-${file}\n`);
  }
  const sync = async () => JSON.parse((await run(['files', 'sync', local.path, 'many:', '--json'])).stdout);
  expect(await sync()).toEqual({ sent: 0, deleted: 0, same: 10_000, skipped: 0, heldBack: 0, steps: [] });
  writeFileSync(local.at('7/7'), 'other\n');
  expect(await sync()).toMatchObject({ sent: 1, same: 9999, steps: [{ kind: 'change', path: '7/7' }] });
});

test('a sync reads and writes through no link', async () => {
  using outside = makeDirectory({ 'secret.txt': 'secret\n', 'theirs.txt': 'theirs\n' });
  using local = makeDirectory({ 'in.txt': 'in\n' });
  symlinkSync(outside.path, local.at('folder'));
  symlinkSync(outside.at('secret.txt'), local.at('link.txt'));
  const pushed = await run(['files', 'sync', local.path, 'notes:linked']);
  expect(pushed).toMatchObject({ exitCode: 0, stdout: 'A\tin.txt\n', stderr: expect.stringContaining('2 left out') });

  await run(['files', 'put', '-', 'notes:linked/folder/theirs.txt'], { input: 'changed\n' });
  await run(['files', 'put', '-', 'notes:linked/link.txt'], { input: 'changed\n' });
  const pulled = await run(['files', 'sync', 'notes:linked', local.path]);
  expect(pulled).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('links') });
  expect(readFileSync(outside.at('theirs.txt'), 'utf8')).toBe('theirs\n');
  expect(await run(['files', 'get', 'notes:linked/link.txt', local.at('link.txt')])).toMatchObject({ exitCode: 0 });
  expect(readFileSync(outside.at('secret.txt'), 'utf8')).toBe('secret\n');
  expect(readFileSync(local.at('link.txt'), 'utf8')).toBe('changed\n');
});

test('a sync brings no file that programs of this machine obey, unless its name is allowed', async () => {
  const obeyed = [
    '.vscode/tasks.json',
    'app/.VSCODE/tasks.json',
    'app/.mcp.json',
    'app/.Git/config',
    'app/GIT~1/hooks/a',
  ];
  const bare = ['lib/HEAD', 'lib/config', 'lib/hooks/post-checkout', 'half/config'];
  const plain = ['src/config', 'src/hooks/use.ts', '.envrc', 'lib/a.ts'];
  for (const path of [...plain, ...obeyed, ...bare]) writeInWorkspace('src', path);
  using local = makeDirectory({ 'half/head': 'ref: refs/heads/main\n', '.idea/own.xml': 'own\n' });
  const sync = (...more: string[]) => run(['files', 'sync', 'control:src', local.path, '--delete', ...more]);
  const { exitCode, stdout, stderr } = await sync();
  expect({ exitCode, copied: stdout.match(/(?<=^A\t).*$/gm)?.sort() }).toEqual({ exitCode: 0, copied: plain.sort() });
  expect(stderr).toContain('9 not copied, because git, an editor or an agent on this machine would obey them:');
  expect([...obeyed, ...bare].filter((path) => existsSync(local.at(path)))).toEqual([]);
  expect(existsSync(local.at('.idea/own.xml'))).toBe(true);
  expect((await sync('--allow-control', '.vscode', '--exclude', 'none')).stdout.split('\n').sort()).toEqual(
    ['', 'A\t.vscode/tasks.json', 'A\tapp/.VSCODE/tasks.json'].sort(),
  );
  expect(await sync('--allow-control', '.git/hooks')).toMatchObject({ exitCode: 2 });
});

test('a sync does not overwrite a file that was changed meanwhile', async () => {
  using local = makeDirectory({ 'a.txt': 'mine\n' });
  const change = (text: string) => run(['files', 'put', '-', 'notes:race/a.txt'], { input: text });
  await change('before\n');
  const proxy = createServer(async (request, response) => {
    if (request.method === 'PUT') await change('theirs\n');
    const { method, headers } = request;
    const forwarded = httpRequest(new URL(request.url ?? '/', fixture.platform.url), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  try {
    const env = { CROFT_SERVER: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
    expect(await run(['files', 'sync', local.path, 'notes:race'], { env })).toMatchObject({ exitCode: 5, stdout: '' });
    expect((await run(['files', 'get', 'notes:race/a.txt', '-'])).stdout).toBe('theirs\n');
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('a sync from a server that lies about names writes nothing outside', async () => {
  const at = new Date().toISOString();
  const workspace = {
    accountId: 'acct_1',
    workspaceId: 'ws_1',
    name: 'lies',
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const path = '../outside.txt';
    const entry = { path, name: 'outside.txt', kind: 'file', isFolder: false, sizeBytes: 4, etag: '"1"' };
    const isList = pathname.endsWith('/files');
    const body = isList
      ? { files: [entry] }
      : { workspaces: [{ ...workspace, config: { storage: { provider: 'local' } } }] };
    response.end(pathname.endsWith('/file') ? 'evil' : JSON.stringify(body));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  using parent = makeDirectory({ 'own/a.txt': 'a\n' });
  try {
    const env = { CROFT_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, CROFT_KEY: 'croft_x' };
    const pulled = await run(['files', 'sync', 'lies:', parent.at('own')], { env });
    expect(pulled).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('cannot be here') });
    expect(existsSync(parent.at('outside.txt'))).toBe(false);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
