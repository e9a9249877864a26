import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { croft, makeDirectory } from '../support/harness.ts';

/** A user whose editors have taken all that the kernel lets one have, which is for each user namespace to say. */
const withoutWatches = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@"';
const canSayNo = spawnSync('unshare', ['-Ur', 'sh', '-c', withoutWatches, 'true']).status === 0;

test.skipIf(!canSayNo)(
  'without free inotify watches directories are polled, which is reported once, and no change is missed',
  () => {
    using fixture = makeDirectory({ 'work/a.txt': 'as it was' });
    const call = (tool: string, input: object) => {
      const argv = [croft, 'tool', '--workspace', fixture.at('work'), tool, JSON.stringify(input)];
      const env = { PATH: process.env.PATH, HOME: fixture.path, CROFT_DATA: fixture.at('data') };
      const { stdout, stderr } = spawnSync('unshare', ['-Ur', 'sh', '-c', withoutWatches, ...argv], {
        env,
        encoding: 'utf8',
      });
      return `${stdout}${stderr}`;
    };
    expect(call('snapshot_create', { name: 'before' })).toContain('snapshot before created');
    writeFileSync(fixture.at('work/a.txt'), 'changed by somebody');
    const wrote = call('write', { file_path: 'b.txt', content: 'new' });
    expect(wrote).toContain('wrote 3 bytes to b.txt\n');
    expect(wrote.match(/no more inotify watches/g)).toHaveLength(1);
    expect(call('snapshot_diff', { name: 'before' })).toMatch(/a\.txt.*b\.txt/s);
    expect(call('undo', {})).toContain('removed b.txt');
  },
);
