import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { errorCatalog } from '@croft/protocol';
import { describe, expect, test } from 'vitest';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { type Canary, plantCanary } from '../support/canary.ts';
import { connectStdio, type McpSession, makeDirectory, type ToolAnswer } from '../support/harness.ts';

type Call = readonly [tool: string, args: Record<string, unknown>];

/** The operations that a lane repeats while others change the tree. Each gets a number of its own. */
const attacks: readonly ((n: number) => readonly Call[])[] = [
  () => [['read', { file_path: 'live/dir/secret.txt' }]],
  () => [['read', { file_path: 'live/file.txt' }]],
  () => [['read', { file_path: 'live/link/deep/key.txt' }]],
  () => [['list', { path: 'live/dir' }]],
  () => [['read', { file_path: 'live/dir/deep/key.txt' }]],
  () => [['list', { path: 'live/link/deep' }]],
  (n) => [['write', { file_path: `live/dir/new-${n}.txt`, content: 'inside' }]],
  (n) => [['write', { file_path: `live/link/deep/new-${n}/x.txt`, content: 'inside' }]],
  () => overwrite('live/file.txt'),
  () => overwrite('live/dir/secret.txt'),
  () => change('live/dir/deep/key.txt'),
  () => change('live/link/secret.txt'),
  () => [['delete', { file_path: 'live/dir/deep/run.sh' }]],
  () => [['delete', { file_path: 'live/file.txt' }]],
  () => [['delete', { file_path: 'live/link/deep', recursive: true }]],
  () => [['delete', { file_path: 'live/dir', recursive: true }]],
  (n) => [['move', { from: 'live/dir/secret.txt', to: `taken/${n}.txt` }]],
  (n) => [['move', { from: 'live/link/deep', to: `taken/${n}` }]],
  (n) => [['move', { from: 'live/dir', to: `taken/dir-${n}` }]],
  (n) => [
    ['write', { file_path: `own/${n}.txt`, content: 'inside' }],
    ['move', { from: `own/${n}.txt`, to: `live/dir/moved-${n}.txt` }],
    ['move', { from: `own/${n}.txt`, to: `live/link/moved/${n}.txt` }],
  ],
  () => [['grep', { pattern: 'secret-|inside', path: 'live/dir' }]],
  () => [['grep', { pattern: 'secret-|inside', path: 'live/file.txt' }]],
  () => [['glob', { pattern: '**', path: 'live/link' }]],
];

const lanes = 8;
const maxCalls = 3500;
const maxMs = 60_000;

test('no file outside is read or changed while another process swaps directories and files for links to it', async () => {
  using fixture = makeDirectory();
  const canary = plantCanary(fixture.at('outside'));
  mkdirSync(fixture.at('work'));
  await using session = await connectStdio(['--workspace', fixture.at('work')]);
  await using swapper = await startSwapper(fixture.at('work'), `${canary.path}/secret.txt`);

  const tally = await attack(session, canary);
  const swaps = await swapper.stop();

  expect(canary.changes()).toEqual([]);
  expect(filesWith(canary.secret, fixture.at('work'))).toEqual([]);
  // Without these the race did not take place and the test has shown nothing.
  expect(swaps).toBeGreaterThan(1000);
  for (const tool of ['read', 'write', 'edit', 'list', 'delete', 'move', 'grep', 'glob']) {
    expect(tally[`${tool} success`], `${tool} that worked`).toBeGreaterThan(0);
    expect(tally[`${tool} E_SANDBOX_VIOLATION`], `${tool} that was refused`).toBeGreaterThan(0);
  }
  expect(tally['read success']).toBeGreaterThan(50);
  expect(tally['read E_SANDBOX_VIOLATION']).toBeGreaterThan(50);
});

test('a search reads no file of the system either, which its sandbox can see', async () => {
  const systemFile = '/usr/lib/os-release';
  using fixture = makeDirectory();
  await using session = await connectStdio(['--workspace', fixture.path]);
  await using swapper = await startSwapper(fixture.path, systemFile);
  const answers: ToolAnswer[] = [];
  for (let round = 0; round < 60; round += 1)
    answers.push(await session.call('grep', { pattern: '^NAME=|inside', path: 'live/file.txt' }));

  expect(await swapper.stop()).toBeGreaterThan(1000);
  // An answer that found nothing names the pattern.
  const found = answers.map(({ text }) => text).filter((text) => !text.includes('No match for "^NAME=|inside"'));
  expect(found.filter((text) => text.includes('inside'))).not.toEqual([]);
  expect(found.filter((text) => text.includes('NAME='))).toEqual([]);
});

describe('while another process swaps the root itself, the opened directory stays the root', () => {
  test.each<[string, readonly Call[]]>([
    [
      'for the file tools',
      [
        ['list', {}],
        ['read', { file_path: 'a.txt' }],
        ['write', { file_path: 'new.txt', content: 'inside' }],
        ['delete', { file_path: 'new.txt' }],
      ],
    ],
    [
      'for searches',
      [
        ['grep', { pattern: 'inside|secret' }],
        ['glob', { pattern: '**' }],
      ],
    ],
  ])('%s', async (_, calls) => {
    using fixture = makeDirectory({ 'work/a.txt': 'inside\n' });
    const canary = plantCanary(fixture.at('outside'));
    await using session = await connectStdio(['--workspace', fixture.at('work')]);
    // A client of this era is connected before the server has started; it has opened the root when it answers.
    expect(await session.call('list')).toMatchObject({ isError: false });
    await using _swapper = await startFixture('root-swapper.mjs', [fixture.at('work'), canary.path]);
    const tally: Record<string, number> = {};
    for (let round = 0; round < 100; round += 1)
      for (const call of calls) {
        const outcome = judge(await session.call(...call), canary, call);
        tally[`${call[0]} ${outcome}`] = (tally[`${call[0]} ${outcome}`] ?? 0) + 1;
      }
    for (const [tool] of calls) expect(tally[`${tool} success`], tool).toBeGreaterThan(0);
    expect(canary.changes()).toEqual([]);
  });
});

test('of two servers that create the same file, exactly one succeeds', async () => {
  using fixture = makeDirectory();
  await using one = await connectStdio(['--workspace', fixture.path]);
  await using other = await connectStdio(['--workspace', fixture.path]);
  for (let round = 0; round < 150; round += 1) {
    const [mine, theirs] = await Promise.all(
      [one, other].map((session, index) =>
        session.call('write', { file_path: `${round}.txt`, content: `by ${index}` }),
      ),
    );
    expect([mine?.isError, theirs?.isError].sort(), `round ${round}: ${mine?.text}, ${theirs?.text}`).toEqual([
      false,
      true,
    ]);
    expect(readFileSync(fixture.at(`${round}.txt`), 'utf8')).toBe(mine?.isError ? 'by 1' : 'by 0');
  }
});

test('a file that grows during a read is not read beyond the limit', async () => {
  using fixture = makeDirectory({ 'a.bin': 'x' });
  const files = createDiskFiles({ handle: openRoot(fixture.path), names: [] });
  await using _grower = await startFixture('grower.mjs', [fixture.at('a.bin'), String(4 * 1024 * 1024)]);
  const maxBytes = 1024 * 1024;
  const tally = { read: 0, refused: 0 };
  for (let round = 0; round < 20_000; round += 1) {
    const content = await files.read('a.bin', { maxBytes }).catch((thrown) => {
      expect(thrown).toMatchObject({ code: 'E_TOO_LARGE' });
    });
    tally[content ? 'read' : 'refused'] += 1;
    expect(content?.bytes.length ?? 0).toBeLessThanOrEqual(maxBytes);
  }
  expect(tally.read).toBeGreaterThan(0);
  expect(tally.refused).toBeGreaterThan(0);
});

/** How often each tool ended how. */
async function attack(session: McpSession, canary: Canary): Promise<Record<string, number>> {
  const tally: Record<string, number> = {};
  const endAt = performance.now() + maxMs;
  let [calls, turns] = [0, 0];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (calls < maxCalls && performance.now() < endAt) {
        const turn = turns++;
        for (const [tool, args] of attacks[turn % attacks.length]!(turn)) {
          calls += 1;
          const answer = await session.call(tool, args);
          const outcome = judge(answer, canary, [tool, args]);
          tally[`${tool} ${outcome}`] = (tally[`${tool} ${outcome}`] ?? 0) + 1;
        }
      }
    }),
  );
  return tally;
}

/** Fails for an answer that tells of the outside, or for a failure that no one thought of. */
function judge(answer: ToolAnswer, { secret, unlisted }: Canary, call: Call): string {
  const reported = JSON.stringify(answer);
  expect(reported.includes(secret) || reported.includes(unlisted), `${JSON.stringify(call)} told ${reported}`).toBe(
    false,
  );
  if (!answer.isError) return 'success';
  const { code } = answer.structured.error;
  expect(Object.keys(errorCatalog)).toContain(code);
  expect(code, `${JSON.stringify(call)}: ${answer.text}`).not.toBe('E_INTERNAL');
  return code;
}

/** Swaps in `work/live` from now on. `outsideFile` is what its links lead to, and its directory. */
function startSwapper(work: string, outsideFile: string) {
  return startFixture('swapper.mjs', [`${work}/live`, `${work}/park`, dirname(outsideFile), basename(outsideFile)]);
}

/** A program that says when it is at work. */
async function startFixture(name: string, args: readonly string[]) {
  const program = join(import.meta.dirname, '../fixtures', name);
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('ready');
  return {
    /** How often it swapped. */
    async stop(): Promise<number> {
      child.stdin.end();
      return JSON.parse((await lines.next()).value ?? '{}').swaps;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

function filesWith(text: string, directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return filesWith(text, path);
    return entry.isFile() && readFileSync(path, 'utf8').includes(text) ? [path] : [];
  });
}

function overwrite(path: string): readonly Call[] {
  return [
    ['read', { file_path: path }],
    ['write', { file_path: path, content: 'inside\n' }],
  ];
}

function change(path: string): readonly Call[] {
  return [
    ['read', { file_path: path }],
    ['edit', { file_path: path, old_string: 'inside', new_string: 'inside' }],
  ];
}
