import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { measureTree } from '../../src/lib/disk-space/measure-tree.ts';
import { openFixture } from '../history/fixture.ts';

const megabyte = 1024 * 1024;

describe('the history of a workspace', () => {
  test('stays within its quota whatever calls write: the oldest states are removed, the newest can be undone', async () => {
    using fixture = openFixture({ first: 'first' });
    await using croft = await fixture.connect('--history-max-bytes', '40m');
    const fill = (turn: number) =>
      croft.call('bash', { command: `head -c 4m /dev/urandom > large && echo ${turn} > turn` });
    for (let turn = 1; turn <= 30; turn++) expect((await fill(turn)).isError).toBe(false);
    expect(await measureTree(join(fixture.data, 'data/history'))).toBeLessThan(60 * megabyte);

    const undone = await croft.call('undo');
    expect(undone.isError, undone.text).toBe(false);
    expect(readFileSync(fixture.at('turn'), 'utf8')).toBe('29\n');
    const { text } = await croft.call('undo_list', { limit: 100 });
    expect(text).toContain('cp_000030');
    expect(text).not.toContain('cp_000001');
  });

  test('stores nothing on a nearly full disk: one event reports it, and every answer does', async () => {
    using fixture = openFixture();
    const events = join(fixture.data, 'events');
    await using croft = await fixture.connect('--history-min-free', '8000t', '--events', events);
    const written = await croft.call('write', { file_path: 'a', content: 'x'.repeat(100_000) });
    expect(written.text).toMatch(/cannot be undone.*--history-min-free/);
    const run = await croft.call('bash', { command: 'head -c 8m /dev/urandom > large; rm a' });
    expect(run.text).toMatch(/cannot be undone.*--history-min-free/);
    expect((await croft.call('read', { file_path: 'turn' })).text).not.toContain('cannot be undone');
    expect(await measureTree(join(fixture.data, 'data/history'))).toBeLessThan(megabyte);

    const reported = readFileSync(events, 'utf8')
      .split('\n')
      .filter((line) => line.includes('workspace.history'));
    expect(reported).toHaveLength(1);
    expect(JSON.parse(reported[0] as string).fields).toMatchObject({
      state: 'paused',
      reason: expect.stringContaining('free'),
    });
    expect((await croft.call('undo')).text).toMatch(/not kept/);
    expect((await croft.call('snapshot_create', { name: 'now' })).text).toMatch(/keeps no more/);
  });

  test('stores again when there is space, and later changes can be undone', async () => {
    using fixture = openFixture({ file: 'one\n' });
    {
      await using croft = await fixture.connect('--history-min-free', '8000t');
      await croft.call('bash', { command: 'echo two > file' });
    }
    await using croft = await fixture.connect();
    const run = await croft.call('bash', { command: 'echo three > file' });
    expect(run.text).not.toContain('cannot be undone');
    expect((await croft.call('undo')).isError).toBe(false);
    expect(readFileSync(fixture.at('file'), 'utf8')).toBe('two\n');
  });

  test.each(['lots', '-1', ''])('--history-max-bytes %s is refused as no size', async (size) => {
    using fixture = openFixture();
    await expect(fixture.connect('--history-max-bytes', size)).rejects.toThrow();
  });
});
