import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { croft, makeDirectory } from '../harness.ts';

/** A user whose editors have taken all that the kernel lets one have, which is for each user namespace to say. */
const withoutWatches = 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$0" "$@"';
const canSayNo = spawnSync('unshare', ['-Ur', 'sh', '-c', withoutWatches, 'true']).status === 0;

test.skipIf(!canSayNo)(
  'where the kernel has no watches left, every look is at everything, and nothing is missed',
  () => {
    using ground = makeDirectory({ 'work/a.txt': 'as it was' });
    const call = (tool: string, input: object) => {
      const argv = [croft, 'tool', '--workspace', ground.at('work'), tool, JSON.stringify(input)];
      const env = { PATH: process.env.PATH, HOME: ground.path, CROFT_DATA: ground.at('data') };
      const { stdout, stderr } = spawnSync('unshare', ['-Ur', 'sh', '-c', withoutWatches, ...argv], {
        env,
        encoding: 'utf8',
      });
      return `${stdout}${stderr}`;
    };
    expect(call('snapshot_create', { name: 'before' })).toContain('snapshot before created');
    writeFileSync(ground.at('work/a.txt'), 'changed by somebody');
    expect(call('write', { file_path: 'b.txt', content: 'new' })).toBe('wrote 3 bytes to b.txt\n');
    expect(call('snapshot_diff', { name: 'before' })).toMatch(/a\.txt.*b\.txt/s);
    expect(call('undo', {})).toContain('removed b.txt');
  },
);
