import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';
import { describe, expect, test, vi } from 'vitest';
import { collect, connectHttp, connectStdio, croft, makeDirectory, startServer } from '../support/harness.ts';

const eventsIn = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => LifecycleEvent.parse(JSON.parse(line)));

/** On a busy machine an event tells of a stall at any time. */
const newestIn = (file: string) => eventsIn(file).findLast(({ event }) => event !== 'lifecycle.server.stall')?.event;

describe('SIGHUP', () => {
  test('reopens the events file of a server: no event is lost, and none goes to the old file after the log reports it', async () => {
    using fixture = makeDirectory({ 'w/a.txt': 'x\n' });
    const events = fixture.at('events');
    await using server = await startServer(['--workspace', fixture.at('w'), '--events', events]);
    await using session = await connectHttp(server);
    const calls = { isOver: false, made: 0 };
    const lane = async () => {
      for (; !calls.isOver; calls.made += 1) await session.call('read', { file_path: 'a.txt' });
    };
    const lanes = [lane(), lane(), lane()];

    const sizes: number[] = [];
    for (let turn = 1; turn <= 3; turn += 1) {
      await vi.waitFor(() => expect(eventsIn(events).length).toBeGreaterThan(10), { interval: 10 });
      renameSync(events, `${events}.${turn}`);
      server.child.kill('SIGHUP');
      const opened = () => server.output.stderr().split('reopened').length - 1;
      await vi.waitFor(() => expect(opened()).toBe(turn), { interval: 5 });
      sizes.push(readFileSync(`${events}.${turn}`).length);
    }
    await vi.waitFor(() => expect(eventsIn(events).length).toBeGreaterThan(10), { interval: 10 });
    calls.isOver = true;
    await Promise.all(lanes);

    expect([1, 2, 3].map((turn) => readFileSync(`${events}.${turn}`).length)).toEqual(sizes);
    const all = [1, 2, 3].flatMap((turn) => eventsIn(`${events}.${turn}`)).concat(eventsIn(events));
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
    expect(all.filter(({ event }) => event === 'lifecycle.tool.result')).toHaveLength(calls.made);
    expect((await session.call('read', { file_path: 'a.txt' })).isError).toBe(false);
  });

  test('with an events path that cannot be opened is reported, and events go on to the old file', async () => {
    using fixture = makeDirectory({ 'w/a.txt': 'x\n' });
    const events = fixture.at('events');
    await using server = await startServer(['--workspace', fixture.at('w'), '--events', events]);
    await using session = await connectHttp(server);
    renameSync(events, `${events}.1`);
    mkdirSync(events);
    server.child.kill('SIGHUP');
    await server.output.find(/events cannot be written to .*EISDIR; events still go to the file that was open before/);
    await session.call('read', { file_path: 'a.txt' });
    expect(newestIn(`${events}.1`)).toBe('lifecycle.tool.result');
    rmdirSync(events);
    server.child.kill('SIGHUP');
    await server.output.find(/reopened/);
    await session.call('read', { file_path: 'a.txt' });
    expect(newestIn(events)).toBe('lifecycle.tool.result');
  });

  test('does not end a server without events, nor croft mcp; the end of its terminal does', async () => {
    using fixture = makeDirectory({ 'w/a.txt': 'x\n' });
    await using server = await startServer(['--workspace', fixture.at('w')]);
    server.child.kill('SIGHUP');
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

    const events = fixture.at('mcp-events');
    await using session = await connectStdio(['--workspace', fixture.at('w'), '--events', events], { era: '2025' });
    await session.call('read', { file_path: 'a.txt' });
    renameSync(events, `${events}.1`);
    process.kill((session.transport as unknown as { pid: number }).pid, 'SIGHUP');
    await vi.waitFor(() => readFileSync(events), { interval: 10 });
    await session.call('read', { file_path: 'a.txt' });
    expect(newestIn(events)).toBe('lifecycle.tool.result');

    // `script` gives the server a terminal, which is gone with it.
    const command = `${croft} serve --port 0 --data ${fixture.at('data')} --workspace ${fixture.at('w')}`;
    const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'pipe', 'pipe'] });
    const url = await collect(child).find(/croft listening on (http:\S+?)\s/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow(), { interval: 100 });
  });
});

test('events name the subject of a call, without the contents of files and without typed text', async () => {
  using fixture = makeDirectory({ 'w/a.txt': 'private old words\n' });
  const events = fixture.at('events');
  await using session = await connectStdio(['--workspace', fixture.at('w'), '--events', events], { era: '2025' });
  await session.call('write', { file_path: 'b.txt', content: 'private new words\n' });
  await session.call('read', { file_path: 'a.txt' });
  await session.call('edit', { file_path: 'a.txt', old_string: 'private old', new_string: 'private other' });
  await session.call('edit', {
    file_path: 'a.txt',
    edits: [{ old_string: 'private other', new_string: 'private last' }],
  });
  await session.call('bash', { command: 'cat > c.txt <<END\nprivate lines\nEND\ncat a.txt' });
  await session.call('grep', { pattern: 'words' });
  const { structured } = await session.call('bash', { command: 'cat', run_in_background: true });
  await session.call('bash_input', { shell_id: structured.shell_id, text: 'private typing\n' });
  await session.call('write', { file_path: 'd.txt', content: 'x', ['private name '.repeat(1000)]: 1 });

  const text = readFileSync(events, 'utf8');
  expect(text.replaceAll('private name ', '')).not.toContain('private');
  expect(text.length).toBeLessThan(10_000);
  const calls = eventsIn(events).filter(({ event }) => event === 'lifecycle.tool.call');
  expect(calls.map(({ fields }) => fields.arguments)).toMatchObject([
    { file_path: 'b.txt', content: { characters: 18 } },
    { file_path: 'a.txt' },
    { file_path: 'a.txt', old_string: { characters: 11 }, new_string: { characters: 13 } },
    { file_path: 'a.txt', edits: { items: 1 } },
    { command: 'cat > c.txt <<END…' },
    { pattern: 'words' },
    { command: 'cat' },
    { text: { characters: 15 } },
    { file_path: 'd.txt' },
  ]);
});
