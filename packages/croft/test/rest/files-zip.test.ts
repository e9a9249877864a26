import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { openFilesFixture, type RestFilesFixture } from './files-fixture.ts';
import { codeOf } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let at: RestFilesFixture;
const mebibyte = 1024 * 1024;
const patience = { timeout: 40_000, interval: 50 };

beforeAll(async () => {
  at = await openFilesFixture();
});
afterAll(() => at[Symbol.asyncDispose]());
beforeEach(() => {
  for (const name of readdirSync(at.directory)) rmSync(at.at(name), { recursive: true });
});

function plant(tree: Readonly<Record<string, string | Buffer>>): void {
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(dirname(at.at(name)), { recursive: true });
    writeFileSync(at.at(name), content);
  }
}

/** Names and contents, as another program finds them. */
function unpack(bytes: Buffer): Record<string, string> {
  using directory = makeDirectory({ 'a.zip': bytes });
  const script = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps({i.filename: z.read(i).hex() for i in z.infolist()}))
`;
  return JSON.parse(
    execFileSync('python3', ['-c', script, directory.at('a.zip')], { encoding: 'utf8', maxBuffer: 64 * mebibyte }),
  );
}

async function download(query = ''): Promise<Record<string, string>> {
  const response = await at.get(`/download${query}`);
  expect(response.status).toBe(200);
  return unpack(Buffer.from(await response.arrayBuffer()));
}

const hex = (text: string | Buffer) => Buffer.from(text).toString('hex');

test('has every file exactly, empty folders and any name, and the time in its own name', async () => {
  const large = randomBytes(3 * mebibyte);
  const tree = { 'a.txt': 'of a', 'deep/er/b.bin': large, 'ünï/日本.txt': 'u', empty: '', 'with space': 'x' };
  plant(tree);
  mkdirSync(at.at('hollow'));
  const response = await at.get('/download');
  expect(response.headers.get('content-type')).toBe('application/zip');
  expect(response.headers.get('content-disposition')).toMatch(/filename="workspace-\d{8}-\d{6}\.zip"/);
  const found = unpack(Buffer.from(await response.arrayBuffer()));
  const folders = Object.fromEntries(['deep/', 'deep/er/', 'ünï/', 'hollow/'].map((name) => [name, '']));
  const files = Object.fromEntries(Object.entries(tree).map(([name, content]) => [name, hex(content)]));
  expect(found).toEqual({ ...files, ...folders });
});

test('of a folder begins there, and of a file, of a missing path or of a link out is refused', async () => {
  plant({ 'a/b/c.txt': 'c', 'other.txt': 'o' });
  symlinkSync('/etc', at.at('etc'));
  expect(await download('?path=a')).toEqual({ 'b/': '', 'b/c.txt': hex('c') });
  expect(codeOf(await at.json('GET', '/download?path=other.txt'))).toBe('E_NOT_A_DIRECTORY');
  expect(codeOf(await at.json('GET', '/download?path=none'))).toBe('E_FILE_NOT_FOUND');
  expect(codeOf(await at.json('GET', '/download?path=etc'))).toBe('E_SANDBOX_VIOLATION');
});

test('leaves out .git and node_modules at any depth unless requested, and every link', async () => {
  plant({ '.git/HEAD': 'h', 'x/node_modules/y.js': 'y', 'x/.git/config': 'c', 'x/z.txt': 'z' });
  symlinkSync('x/z.txt', at.at('inside'));
  symlinkSync('/etc/passwd', at.at('outside'));
  symlinkSync('.', at.at('loop'));
  execFileSync('mkfifo', [at.at('pipe')]);
  expect(await download()).toEqual({ 'x/': '', 'x/z.txt': hex('z') });
  const withGit = await download('?include=.git');
  expect(Object.keys(withGit).sort()).toEqual(['.git/', '.git/HEAD', 'x/', 'x/.git/', 'x/.git/config', 'x/z.txt']);
  expect(Object.keys(await download('?include=.git,node_modules'))).toContain('x/node_modules/y.js');
  expect(await at.json('GET', '/download?include=secrets')).toMatchObject({ status: 400 });
});

test('of hostile names has only safe names, each once', async () => {
  plant({
    '..\\..\\evil.txt': '1',
    '..%5C..%5Cevil.txt': '2',
    'C:\\Windows\\x': '3',
    'C:relative': '4',
    '\\\\server\\share': '5',
    '...': '6',
    '-rf': '7',
    'new\nline': '8',
    '~': '9',
  });
  const found = await download();
  expect(
    Object.values(found)
      .map((text) => Buffer.from(text, 'hex').toString())
      .sort(),
  ).toEqual([...'123456789']);
  for (const name of Object.keys(found)) {
    expect(name).not.toMatch(/^\/|\\|^[A-Za-z]:/);
    expect(name.split('/')).not.toContain('..');
  }
});

test('keeps execute permissions and modification times', async () => {
  plant({ 'run.sh': '#!/bin/sh\n', 'plain.txt': 'x' });
  chmodSync(at.at('run.sh'), 0o755);
  chmodSync(at.at('plain.txt'), 0o640);
  const bytes = Buffer.from(await (await at.get('/download')).arrayBuffer());
  using directory = makeDirectory({ 'a.zip': bytes });
  const script = `
import sys, zipfile
for i in zipfile.ZipFile(sys.argv[1]).infolist(): print(i.filename, oct(i.external_attr >> 16 & 0o777), i.date_time[0])
`;
  const listed = execFileSync('python3', ['-c', script, directory.at('a.zip')], { encoding: 'utf8' });
  const year = new Date().getFullYear();
  expect(listed).toContain(`run.sh 0o755 ${year}`);
  expect(listed).toContain(`plain.txt 0o640 ${year}`);
});

test('that fails in the middle breaks the connection, and closes everything', async () => {
  plant({ 'a.bin': Buffer.alloc(30 * mebibyte, 1), 'b.txt': 'b' });
  const response = await at.get('/download');
  const reader = response.body?.getReader();
  await reader?.read();
  truncateSync(at.at('a.bin'), 5);
  const readAll = async () => {
    while (!(await reader?.read())?.done);
  };
  await expect(readAll()).rejects.toThrow();
  await vi.waitFor(() => expect(openFiles()).toEqual([]), patience);
});

test('that is aborted closes the file in progress', async () => {
  plant({ 'a.bin': Buffer.alloc(30 * mebibyte, 1) });
  for (let index = 0; index < 5; index++) {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${at.token}` };
    const response = await fetch(`${at.fixture.url}${at.root}/download`, { signal: stop.signal, headers });
    await response.body?.getReader().read();
    stop.abort();
  }
  await vi.waitFor(() => expect(openFiles()).toEqual([]), patience);
  const head = await at.get('/download', {}, 'HEAD');
  expect(head.status).toBe(200);
  expect(openFiles()).toEqual([]);
});

test('of files that change meanwhile is still valid', async () => {
  plant(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`dir${index % 7}/f${index}`, `${index}`])));
  const writer = setInterval(() => {
    const index = Math.floor(Math.random() * 300);
    rmSync(at.at(`dir${index % 7}/f${index}`), { force: true });
    writeFileSync(at.at(`dir${index % 7}/f${index}`), 'x'.repeat(index));
  }, 5);
  try {
    for (let index = 0; index < 5; index++) {
      // One that became shorter under it cuts the connection, and then there is nothing to unpack.
      const response = await at
        .get('/download')
        .then((answer) => answer.arrayBuffer())
        .catch(() => undefined);
      if (response) unpack(Buffer.from(response));
    }
  } finally {
    clearInterval(writer);
  }
});

function openFiles(): string[] {
  const script = 'for f in /proc/$1/fd/*; do readlink "$f"; done';
  const all = execFileSync('sh', ['-c', script, 'sh', String(process.pid)], { encoding: 'utf8' }).split('\n');
  return all.filter((path) => path.startsWith(`${at.directory}/`));
}
