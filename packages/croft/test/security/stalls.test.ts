import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { connectHttp, type McpSession, makeDirectory, startServer } from '../support/harness.ts';
import { maxStallMs, worstStallDuring } from '../support/servers/read-stalls.ts';

/** Files, patterns and calls that are made to hold up the one thread that answers everybody. */

const directory = makeDirectory({ 'w/a.txt': 'a\n' });
const eventsFile = directory.at('events.jsonl');
let server: Awaited<ReturnType<typeof startServer>>;
let session: McpSession;
const at = (path: string) => directory.at(`w/${path}`);

beforeAll(async () => {
  writeFileSync(eventsFile, '');
  server = await startServer(['--workspace', directory.at('w'), '--events', eventsFile]);
  session = await connectHttp(server);
  await call('bash', { command: 'true' });
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});
beforeEach(() => call('bash', { command: 'rm -rf ./* .gitignore; echo a > a.txt' }));

async function call(name: string, args: Record<string, unknown>) {
  const answer = await session.call(name, args, { timeout: 200_000 });
  expect(answer.isError, answer.text).toBe(false);
  return answer;
}

/** Makes one more call, so that a stall at the end of the first has been reported. */
async function expectNoStall(work: () => Promise<unknown>): Promise<void> {
  const worst = await worstStallDuring(eventsFile, async () => {
    await work();
    for (let round = 0; round < 3; round++) await call('read', { file_path: 'a.txt' });
  });
  expect(worst, 'ms of work at a stretch').toBeLessThan(maxStallMs);
}

test('200 edits of a file of 60 MB do not block the thread', async () => {
  const marks = Array.from({ length: 200 }, (_, index) => `mark ${index};\n`);
  const fill = `for i in $(seq 0 199); do echo "mark $i;"; done > big.txt; yes ${'x'.repeat(99)} | head -600000 >> big.txt`;
  await call('bash', { command: fill });
  await call('read', { file_path: 'big.txt', limit: 5 });
  const edits = marks.map((mark, index) => ({ old_string: mark, new_string: `changed ${index};\n` }));
  await expectNoStall(() => call('edit', { file_path: 'big.txt', edits }));
  const { text } = await call('read', { file_path: 'big.txt', limit: 3 });
  expect(text).toContain('changed 2;');
});

const hostileRules = {
  'chains of **/': `${'**/'.repeat(80)}x\n`,
  'chains of **/a/': `${'**/a/'.repeat(50)}x\n`,
  stars: `${'*a'.repeat(120)}b\n`,
  classes: `${'[[:alpha:][:digit:]]'.repeat(12)}\n`,
  ranges: `[${'\\x01-\\x7f'.repeat(80)}]x\n`,
  'short rules': '*.q\n',
};

test.each(Object.entries(hostileRules))('252 kB of .gitignore: %s', async (_, rule) => {
  const make =
    'd=$(printf "a/%.0s" $(seq 30)); for i in $(seq 40); do mkdir -p d$i/$d; touch d$i/"$d"f{1..25}.ts; done';
  await call('bash', { command: make });
  await expectNoStall(async () => {
    writeFileSync(at('.gitignore'), rule.repeat(Math.floor((252 * 1024) / rule.length)));
    await call('bash', { command: 'echo hi > b.txt' });
    // The largest file whose rules are applied.
    writeFileSync(at('.gitignore'), rule.repeat(Math.floor((127 * 1024) / rule.length)));
    await call('bash', { command: 'echo hi > c.txt' });
  });
});

test('a glob of a thousand alternatives over many files', async () => {
  await call('bash', { command: 'n=$(printf "ab%.0s" $(seq 90)); touch $n{1..2000}.ts' });
  const hostile = ['*a*a*a*a*[q-s]{1..900}*', '**/*a*b*[q-s]?{1..900}*', `*${'a*'.repeat(1000)}[q-s]*`];
  for (const pattern of hostile) await expectNoStall(() => session.call('glob', { pattern }, { timeout: 200_000 }));
});

test('20 sparse files of 2 GB', async () => {
  await expectNoStall(async () => {
    const startedAt = performance.now();
    await call('bash', { command: 'for i in $(seq 20); do truncate -s 2G sparse$i; done' });
    await call('bash', { command: 'echo hi' });
    await call('write', { file_path: 'new.txt', content: 'new' });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });
});
