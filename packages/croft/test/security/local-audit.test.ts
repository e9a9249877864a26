import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openLocalAuditTrail } from '../../src/app/records/local-audit-trail.ts';
import type { AuditEntry, AuditRow } from '../../src/core/accounts/ports/call-tables.ts';
import { connectStdio, makeDirectory, runCroft } from '../support/harness.ts';

const ring = [{ id: 'k1', key: Buffer.alloc(32, 1) }];
const entry: AuditEntry = { accountId: '', at: '', actor: 'größe', action: 'call.ended', target: 'x', details: '{}' };

function openFixture(maxBytes = 1_000_000) {
  const fixture = makeDirectory();
  const open = () => openLocalAuditTrail({ data: fixture.path, ring, maxBytes });
  const fill = async (trail: ReturnType<typeof open>, rows: number) => {
    for (let n = 0; n < rows; n++) {
      const end = trail.append([{ ...entry, target: `${n}` }]);
      if (end !== 'held') await trail.advance(end);
    }
  };
  const segments = () => readdirSync(fixture.at('local-audit')).filter((name) => name.endsWith('.jsonl'));
  const at = (name: string) => fixture.at(`local-audit/${name}`);
  return { open, fill, segments, at, [Symbol.dispose]: () => fixture[Symbol.dispose]() };
}

const first = '00000001.jsonl';
const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);

test('every call of `croft mcp` is in the audit trail, which verifies, also after a kill', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'one\n' });
  const env = { CROFT_DATA: fixture.at('data') };
  const session = await connectStdio(['--workspace', fixture.at('work')], { env });
  await session.call('read', { file_path: 'a.txt' });
  await session.call('edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' });
  await session.call('read', { file_path: '../outside' });
  // The ends of calls follow their answers by some milliseconds.
  await expect.poll(() => readFileSync(fixture.at(`data/local-audit/${first}`), 'utf8')).toContain('"violation"');
  process.kill((session.transport as { pid?: number }).pid ?? -1, 'SIGKILL');
  await session.client.close();
  await using other = await connectStdio(['--workspace', fixture.at('work')], { env });
  await other.call('list');
  await other.call('write', { file_path: 'b.txt', content: 'b' });

  const audit = (...args: string[]) => runCroft(['audit', ...args, '--trail', 'local'], { env });
  const { stdout } = await audit('export');
  const rows: AuditRow[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const began = rows.filter(({ action }) => action === 'process.began');
  expect(began.map(({ details }) => JSON.parse(details).workspaces)).toEqual(
    Array(2).fill({ work: fixture.at('work') }),
  );
  const reported = rows.map(({ action, target }) => `${action} ${target}`);
  expect(reported).toEqual(
    expect.arrayContaining([
      'call.ended read',
      'call.began edit',
      'call.ended edit',
      'violation read',
      'call.began write',
    ]),
  );
  expect(await audit('verify')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/rows, each follows from the one before[\s\S]*this is the trail of local: calls in/),
  });
  expect(JSON.parse((await audit('head')).stdout)).toMatchObject({ rows: expect.any(Number) });
});

test('two processes append to one chain', async () => {
  using fixture = openFixture();
  const [one, other] = [fixture.open(), fixture.open()];
  for (let n = 0; n < 20; n++) await fixture.fill(n % 3 ? one : other, 1 + (n % 4));
  expect(await one.verify()).toMatchObject({ isWhole: true, rows: 50 });
});

test.each([
  ['changed', (lines: string[]) => lines.with(4, (lines[4] ?? '').replace('"target":"4"', '"target":"9"')), 5],
  ['taken out', (lines: string[]) => lines.toSpliced(4, 1), 6],
  ['put in twice', (lines: string[]) => lines.toSpliced(4, 0, lines[4] ?? ''), 5],
  ['made a line that is none', (lines: string[]) => lines.with(4, (lines[4] ?? '').slice(0, 40)), 4],
])('a row that was %s is found', async (_, change, row) => {
  using fixture = openFixture();
  const trail = fixture.open();
  await fixture.fill(trail, 10);
  writeFileSync(fixture.at(first), `${change(linesOf(fixture.at(first))).join('\n')}\n`);
  expect(await trail.verify()).toMatchObject({ isWhole: false, broken: { row } });
});

test('rows deleted at the end are noticed by the head', async () => {
  using fixture = openFixture();
  const trail = fixture.open();
  await fixture.fill(trail, 10);
  writeFileSync(fixture.at(first), `${linesOf(fixture.at(first)).slice(0, 8).join('\n')}\n`);
  const { isWhole, problems } = await trail.verify();
  expect({ isWhole, problems }).toEqual({ isWhole: false, problems: [expect.stringContaining('row 10 is not there')] });
});

test('a cut last row is told apart from a changed one, now and after the trail went on', async () => {
  using fixture = openFixture();
  const trail = fixture.open();
  await fixture.fill(trail, 5);
  const size = readFileSync(fixture.at(first)).length;
  appendFileSync(fixture.at(first), linesOf(fixture.at(first))[4]?.slice(0, 100) ?? '');
  const torn = await fixture.open().verify();
  expect(torn).toMatchObject({ isWhole: true, rows: 5 });
  expect(torn.cannotShow).toContainEqual(expect.stringContaining('the last 100 bytes'));

  await fixture.fill(fixture.open(), 3);
  expect(await trail.verify()).toMatchObject({ isWhole: true, rows: 9 });
  const lines = linesOf(fixture.at(first));
  expect(lines[6]).toContain('audit.torn');
  writeFileSync(fixture.at(first), `${lines.with(5, '{"something":"else"}').join('\n')}\n`);
  expect(await trail.verify()).toMatchObject({ isWhole: false, broken: { row: 5 } });
  truncateSync(fixture.at(first), size);
  expect(await trail.verify()).toMatchObject({ isWhole: false });
});

test('a trail has a size limit, and goes on over its files, whichever server begins the next', async () => {
  using fixture = openFixture(16_000);
  const [one, other] = [fixture.open(), fixture.open()];
  for (let n = 0; n < 100; n++) await fixture.fill(n % 2 ? one : other, 2);
  expect(fixture.segments().length).toBeLessThanOrEqual(8);
  expect(fixture.segments()).not.toContain(first);
  const bytes = fixture.segments().reduce((sum, name) => sum + readFileSync(fixture.at(name)).length, 0);
  expect(bytes).toBeLessThan(16_000 * 1.3);
  expect(await fixture.open().verify()).toMatchObject({ isWhole: true });

  // Nobody else can drop the oldest.
  rmSync(fixture.at(fixture.segments()[0] ?? ''));
  const { isWhole, problems } = await fixture.open().verify();
  expect({ isWhole, problems }).toEqual({ isWhole: false, problems: [expect.stringContaining('no row says that')] });
});

test('CROFT_AUDIT_KEEP=0 keeps no trail, and neither does a data directory that agents can reach', async () => {
  using fixture = makeDirectory({ 'work/a.txt': 'one\n' });
  const read = (env: Record<string, string>) =>
    runCroft(['tool', 'read', '{"file_path":"a.txt"}', '--workspace', fixture.at('work')], { env });
  expect(await read({ CROFT_DATA: fixture.at('data'), CROFT_AUDIT_KEEP: '0' })).toMatchObject({ exitCode: 0 });
  const inside = await read({ CROFT_DATA: fixture.at('work/data') });
  expect(inside).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('calls have no audit trail') });
  for (const name of ['data', 'work/data']) expect(existsSync(fixture.at(`${name}/local-audit`))).toBe(false);
  expect(await read({ CROFT_DATA: fixture.at('data') })).toMatchObject({ exitCode: 0, stderr: '' });
  expect(linesOf(fixture.at(`data/local-audit/${first}`))).toHaveLength(2);
});
