import type { AccountEvent, AuditRecord } from '@croft/protocol';
import { expect, test } from 'vitest';
import { createFeed } from './feed.ts';
import { countSince } from './feed-row.ts';

let sequence = 0;

function record(action: string, call: string, details: object = {}, seconds = 0): AuditRecord {
  sequence++;
  const at = new Date(Date.UTC(2030, 0, 1, 12, 0, seconds)).toISOString();
  const text = JSON.stringify({ call, workspace: 'notes', title: 'src/a.ts', ...details });
  return {
    ...{ sequence, accountId: 'acct', at, actor: 'writer key_1/default', action, target: 'edit', details: text },
    ...{ previous: '', hash: `hash ${sequence}` },
  };
}

const reported = (row: AuditRecord): AccountEvent => ({ type: 'audit', record: row });
const started = (call: string, more: object = {}): AccountEvent => ({
  ...{ type: 'call.started', at: '2030-01-01T12:00:00.000Z', call, agentId: 'writer', session: 'key_1/default' },
  ...{ tool: 'edit', workspace: 'notes', title: 'src/a.ts', ...more },
});

test('a call keeps its place from its beginning to its end', () => {
  const feed = createFeed();
  feed.add([started('one')]);
  feed.add([started('two')]);
  const rows = feed.add([
    reported(record('call.ended', 'one', { duration_ms: 40, is_error: false, checkpoint: 'ck_1' })),
  ]);
  expect(rows.map(({ key, outcome, checkpoint }) => [key, outcome, checkpoint])).toEqual([
    ['two', 'running', undefined],
    ['one', 'ran', 'ck_1'],
  ]);
});

test('a record that comes by the list and by the stream is one row', () => {
  const feed = createFeed();
  const ended = record('call.ended', 'one', { is_error: false });
  feed.addOlder([ended]);
  expect(feed.add([reported(ended)])).toHaveLength(1);
});

test('older records, newest first: the end of a call comes before its beginning', () => {
  const feed = createFeed();
  const began = record('call.began', 'one', {}, 1);
  const violation = record(
    'violation',
    'one',
    { layer: 'network', rule: 'deny-all', target: 'x.io', next: 'allow it' },
    2,
  );
  const ended = record('call.ended', 'one', { is_error: false, exit_code: 6, duration_ms: 3000 }, 4);
  const [row, ...others] = feed.addOlder([ended, violation, began]);
  expect(others).toEqual([]);
  expect(row).toMatchObject({ outcome: 'violation', exitCode: 6, at: began.at });
  expect(row?.violations).toEqual([{ layer: 'network', rule: 'deny-all', target: 'x.io', next: 'allow it' }]);
});

test.each([
  [{ is_error: true, code: 'E_APPROVAL_REQUIRED' }, 'asks'],
  [{ is_error: true, code: 'E_APPROVAL_DENIED' }, 'denied'],
  [{ is_error: true, code: 'E_INVALID_INPUT' }, 'failed'],
  [{ is_error: false, exit_code: 2 }, 'failed'],
  [{ is_error: false, exit_code: 0 }, 'ran'],
])('%j is %s', (details, outcome) => {
  expect(createFeed().add([reported(record('call.ended', 'one', details))])[0]?.outcome).toBe(outcome);
});

test('what a person changed is a row, and what nobody needs is none', () => {
  const rows = createFeed().add([
    reported(record('undo', '')),
    reported(record('key.created', '')),
    reported(record('call.ended', '')),
  ]);
  expect(rows.map(({ tool, outcome }) => [tool, outcome])).toEqual([['undo', 'change']]);
});

test('details that are no JSON, or no object, harm nothing', () => {
  const feed = createFeed();
  for (const details of ['{', '[]', 'null', '"x"', '{"call": {}}'])
    feed.add([reported({ ...record('call.ended', 'one'), details })]);
  expect(feed.add([])).toEqual([]);
});

test('a long day is cut at its oldest end', () => {
  const feed = createFeed();
  const events = Array.from({ length: 15_000 }, (_, index) => started(`call ${index}`));
  const rows = feed.add(events);
  expect(rows).toHaveLength(12_000);
  expect(rows[0]?.key).toBe('call 14999');
  expect(feed.add([reported(record('call.ended', 'call 14999', { is_error: false }))])[0]?.outcome).toBe('ran');
});

test('an undo names the calls that it takes back, which the feed finds', () => {
  const feed = createFeed();
  feed.add([reported(record('call.ended', 'one', { is_error: false }))]);
  const [undo] = feed.add([reported(record('undo', '', { id: 'cp_1', calls: ['one', 7] }))]);
  expect(undo?.undoes).toEqual(['one']);
  expect(feed.find('one')).toMatchObject({ tool: 'edit', title: 'src/a.ts' });
});

test('everybody and everything in the rows has a name for the filters', () => {
  const feed = createFeed();
  feed.add([started('one'), started('two', { agentId: 'tester', workspace: 'docs' })]);
  feed.addOlder([record('call.ended', 'three', { workspace: 'old', workspaceId: 'ws_1' })]);
  expect([...feed.names().agents]).toEqual(['writer', 'tester']);
  expect(Array.from(feed.names().workspaces, ({ workspace }) => workspace)).toEqual(['notes', 'docs', 'old']);
});

test('rows since a time are counted', () => {
  const rows = [50, 40, 40, 30].map((seconds) => ({ at: new Date(seconds * 1000).toISOString() }));
  expect([60, 50, 45, 40, 31, 30, 0].map((seconds) => countSince(rows, seconds * 1000))).toEqual([0, 1, 1, 3, 3, 4, 4]);
  expect(countSince([], 0)).toBe(0);
});
