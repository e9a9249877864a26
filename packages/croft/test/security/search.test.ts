import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { ErrorEnvelope } from '@croft/protocol';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { plantCanary } from '../support/canary.ts';
import { type CallOptions, connectStdio, croft, makeDirectory, structuredOf } from '../support/harness.ts';

/** A workspace with a canary beside it. */
async function openWork(tree: Record<string, string>) {
  const fixture = makeDirectory(Object.fromEntries(Object.entries(tree).map(([name, text]) => [`work/${name}`, text])));
  mkdirSync(fixture.at('work'), { recursive: true });
  const canary = plantCanary(fixture.at('outside'));
  const session = await connectStdio(['--workspace', fixture.at('work')]);
  return {
    canary,
    path: fixture.at('work'),
    at: (name: string) => fixture.at(`work/${name}`),
    call: (tool: string, args: Record<string, unknown>, options?: CallOptions) => session.call(tool, args, options),
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      const changes = canary.changes();
      fixture[Symbol.dispose]();
      expect(changes).toEqual([]);
    },
  };
}

/** One for all tests of a group, which change nothing of it that another looks at. */
function shareWork(tree: Record<string, string>) {
  let work: Awaited<ReturnType<typeof openWork>> | undefined;
  beforeAll(async () => {
    work = await openWork(tree);
  });
  afterAll(() => work?.[Symbol.asyncDispose]());
  return () => work!;
}

/** Whether a search of this workspace is at work, or anything of it is left. */
function isSearching(root: string): boolean {
  return processesIn(root, '--files').length > 0;
}

/** Processes with this argument in this workspace, which has the same path in the box. */
function processesIn(root: string, argument: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readIfThere(`/proc/${name}/cmdline`).includes(`\0${argument}\0`))
    .filter((name) => readLinkIfThere(`/proc/${name}/cwd`) === root)
    .map(Number);
}

/** By their first process, which is all there is of one while nothing is searched. */
function boxesIn(root: string): number[] {
  return processesIn(root, '--search-box').filter((pid) => /^NSpid:.*\t1$/m.test(readIfThere(`/proc/${pid}/status`)));
}

function readLinkIfThere(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Turns of the event loop until it holds; the time limit of the test is the limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setImmediate();
}

describe('a search never blocks', () => {
  test('on a pipe, which is not a searchable file', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    execFileSync('mkfifo', [work.at('pipe')]);
    const answer = await work.call('grep', { pattern: 'inside', path: 'pipe' });
    expect(answer.structured.error).toMatchObject({ code: 'E_NOT_A_FILE' });
    expect(await work.call('grep', { pattern: 'inside' })).toMatchObject({ text: 'a.txt:1:inside\n' });
  });

  test('for ever: one blocked by a pipe in place of .gitignore ends with its call', async () => {
    await using work = await openWork({ 'a.txt': 'inside', 'sub/b.txt': 'inside' });
    execFileSync('mkfifo', [work.at('sub/.gitignore')]);
    const controller = new AbortController();
    const search = work.call('glob', { pattern: '*.txt' }, { signal: controller.signal }).catch(() => 'cancelled');
    await until(() => isSearching(work.path));
    controller.abort();
    await search;
    await until(() => !isSearching(work.path));
    expect(await work.call('read', { file_path: 'sub/b.txt' })).toMatchObject({ text: '1\tinside\n' });
  });
});

describe('the search box', () => {
  const found = { text: 'a.txt:1:inside\n' };

  test('is opened by the first search, used by the next, and shows later changes of the workspace', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    expect(boxesIn(work.path)).toEqual([]);
    expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found);
    const boxes = boxesIn(work.path);
    expect(boxes).toHaveLength(1);
    expect(await work.call('glob', { pattern: '*.txt' })).toMatchObject({ text: 'a.txt' });
    expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found);
    mkdirSync(work.at('new'));
    writeFileSync(work.at('new/b.txt'), 'inside');
    expect(await work.call('glob', { pattern: 'b.txt' })).toMatchObject({ text: 'new/b.txt' });
    expect(boxesIn(work.path)).toEqual(boxes);
  });

  test('is opened again after it was killed, between searches and during one', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found);
    for (const pid of boxesIn(work.path)) process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found));

    execFileSync('mkfifo', [work.at('.gitignore')]);
    const search = work.call('glob', { pattern: '*.txt' });
    await until(() => isSearching(work.path));
    for (const pid of boxesIn(work.path)) process.kill(pid, 'SIGKILL');
    expect((await search).structured.error).toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
    await until(() => !isSearching(work.path));
    rmSync(work.at('.gitignore'));
    await vi.waitFor(async () => expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found));
  });

  test('ends with its server', async () => {
    let path = '';
    {
      await using work = await openWork({ 'a.txt': 'inside' });
      path = work.path;
      expect(await work.call('grep', { pattern: 'inside' })).toMatchObject(found);
      expect(boxesIn(path)).toHaveLength(1);
    }
    await until(() => boxesIn(path).length + boxesIn(`${path} (deleted)`).length === 0);
  });
});

describe('a search without a working program', () => {
  const work = shareWork({ 'a.txt': 'inside' });

  test.each<[string, Record<string, unknown>]>([
    ['a pattern with a NUL byte', { pattern: 'in\0side' }],
    ['a type with a NUL byte', { pattern: 'inside', type: 'ts\0' }],
    ['a glob with a NUL byte', { pattern: 'inside', glob: '*\0' }],
    ['a pattern longer than an argument may be', { pattern: 'x'.repeat(200_000) }],
    ['a type longer than an argument may be', { pattern: 'inside', type: 'x'.repeat(200_000) }],
    ['a pattern that is too large once compiled', { pattern: '(a{1000}){1000}' }],
  ])('fails with the reason: %s', async (_, args) => {
    const answer = await work().call('grep', args);
    if (answer.isError) expect(answer.structured.error.code).toMatch(/^E_(INVALID_INPUT|BAD_PATTERN|TOO_LARGE)$/);
    else expect(answer.structured.matches).toEqual([]);
  });
});

describe('a server with few file handles', () => {
  test('refuses searches that need more, and goes on', async () => {
    using fixture = makeDirectory({ 'a.txt': 'inside' });
    const client = new Client({ name: 'croft-test', version: '1.0.0' });
    await using _connection = { [Symbol.asyncDispose]: () => client.close() };
    const limited = ['-c', 'ulimit -n 48; exec "$0" "$@"', croft, 'mcp', '--workspace', fixture.path];
    const env = { PATH: process.env.PATH ?? '' };
    await client.connect(new StdioClientTransport({ command: 'sh', args: limited, stderr: 'ignore', env }));
    const search = () => client.callTool({ name: 'grep', arguments: { pattern: 'inside' } });
    for (const answer of await Promise.all(Array.from({ length: 40 }, search)))
      if (answer.isError) expect(ErrorEnvelope.parse(structuredOf(answer)).error.code).not.toBe('E_INTERNAL');
    expect(await search()).toMatchObject({ content: [{ text: 'a.txt:1:inside\n' }] });
  });
});

describe('a search reports names exactly', () => {
  const work = shareWork({ 'evil\nREADME.md': 'inside', 'dir\nname/a.txt': 'inside' });

  test.each(['content', 'count', 'files_with_matches'])('with a newline in one, in mode %s', async (mode) => {
    const answer = await work().call('grep', { pattern: 'inside', output_mode: mode });
    const paths = answer.structured.matches.map(({ path }: { path: string }) => path);
    expect(paths.sort()).toEqual(['dir\nname/a.txt', 'evil\nREADME.md']);
  });
});

describe('a search stays inside', () => {
  test('follows no link out, from any directory or file', async () => {
    await using work = await openWork({ 'dir/a.txt': 'inside' });
    symlinkSync(work.canary.path, work.at('dir/out'));
    symlinkSync(`${work.canary.path}/secret.txt`, work.at('dir/secret.txt'));
    symlinkSync('..', work.at('dir/up'));
    symlinkSync('dir', work.at('link'));
    for (const path of ['', 'dir', 'link', 'dir/up/dir']) {
      const found = await work.call('grep', { pattern: 'secret|inside', path });
      expect(found.text).toBe('dir/a.txt:1:inside\n');
      expect(await work.call('glob', { pattern: '**', path })).toMatchObject({ structured: { paths: ['dir/a.txt'] } });
    }
    for (const path of ['dir/out', 'dir/secret.txt', 'link/out'])
      expect((await work.call('grep', { pattern: '.', path })).structured.error.code).toBe('E_SANDBOX_VIOLATION');
  });

  test('keeps to the opened directory, whatever is at its path now', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    expect((await work.call('grep', { pattern: 'inside' })).text).toBe('a.txt:1:inside\n');
    renameSync(work.path, `${work.path}-moved`);
    symlinkSync(work.canary.path, work.path);
    const answers = [await work.call('grep', { pattern: 'inside|secret' }), await work.call('glob', { pattern: '**' })];
    expect(JSON.stringify(answers)).not.toContain(work.canary.secret);
    expect(JSON.stringify(answers)).not.toContain(work.canary.unlisted);
    expect(await work.call('list', {})).toMatchObject({ text: 'a.txt\t6\n' });
  });

  test('finds nothing in a directory that replaced a removed workspace', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    expect((await work.call('grep', { pattern: 'inside' })).text).toBe('a.txt:1:inside\n');
    rmSync(work.path, { recursive: true });
    mkdirSync(work.path);
    writeFileSync(work.at('b.txt'), 'inside');
    for (const tool of ['grep', 'glob'])
      expect((await work.call(tool, { pattern: 'inside' })).structured.error.code).toBe('E_WORKSPACE_GONE');
  });

  test('reads a directory named like an option as a directory, and a pattern as a pattern', async () => {
    await using work = await openWork({});
    for (const name of ['--follow', '-L', '--no-ignore', '--pre=cat', '-', '--', '@file', '!x']) {
      mkdirSync(work.at(name));
      for (const file of ['a.txt', 'ignored.txt']) writeFileSync(work.at(`${name}/${file}`), 'inside');
      writeFileSync(work.at(`${name}/.gitignore`), 'ignored.txt');
      symlinkSync(work.canary.path, work.at(`${name}/out`));
      const found = await work.call('grep', { pattern: 'inside|secret', path: name });
      expect(found.text).toBe(`${name}/a.txt:1:inside\n`);
      expect((await work.call('glob', { pattern: '*.txt', path: name })).text).toBe(`${name}/a.txt`);
    }
    for (const pattern of ['--follow', '--pre=/bin/sh', '-f/etc/passwd', '--files', '--']) {
      writeFileSync(work.at('a.txt'), `has ${pattern} in it`);
      expect((await work.call('grep', { pattern })).text).toBe(`a.txt:1:has ${pattern} in it\n`);
    }
  });

  test('reveals nothing of the target of a .gitignore or .ignore that leads out', async () => {
    await using work = await openWork({ 'a.txt': 'inside' });
    for (const name of ['.gitignore', '.ignore']) {
      symlinkSync(`${work.canary.path}/secret.txt`, work.at(name));
      const answers = [await work.call('grep', { pattern: 'inside' }), await work.call('grep', { pattern: '(' })];
      expect(JSON.stringify(answers)).not.toContain(work.canary.secret);
      expect(answers[0]).toMatchObject({ isError: false });
      rmSync(work.at(name));
    }
  });

  test('ignores configuration in the workspace', async () => {
    await using work = await openWork({ 'a.txt': 'inside', '.ripgreprc': '--follow\n--no-ignore\n' });
    writeFileSync(work.at('.gitconfig'), '[core]\n\texcludesFile = /etc/passwd\n');
    symlinkSync(work.canary.path, work.at('out'));
    expect(await work.call('grep', { pattern: 'inside|secret' })).toMatchObject({ text: 'a.txt:1:inside\n' });
  });
});
