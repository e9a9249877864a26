import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';

const timeout = 600_000;
const isPossible = canMount();

interface Losses {
  /** Writes that were acknowledged before a cut. */
  readonly total: number;
  readonly faults: readonly string[];
}

test.skipIf(!isPossible).each([
  ['ours', 6],
  // The ways for a file system without ordered writes, and for a missing addon.
  ['each synced', 3],
  ['in steps', 3],
])(
  'a power cut loses no acknowledged write and leaves no file empty, torn or old: %s',
  async (order, cuts) => {
    const { total, faults } = await cutPower(order, cuts);
    expect(faults).toEqual([]);
    expect(total).toBeGreaterThan(cuts * 30);
  },
  timeout,
);

test.skipIf(!isPossible).each(['history', 'forks', 'records'])(
  'a power cut loses no acknowledged snapshot, fork or record, and leaves none without its contents: %s',
  async (order) => {
    const { total, faults } = await cutPower(order, 2);
    expect(faults).toEqual([]);
    expect(total).toBeGreaterThan(100);
  },
  timeout,
);

// `rename, then sync` is caught too, by most runs of eight cuts: a new file is empty, or a replaced one all zeros.
test.skipIf(!isPossible)(
  'a power cut loses relaxed changes, which this test notices',
  async () => {
    const { faults } = await cutPower('relaxed', 1);
    expect(faults.length).toBeGreaterThan(0);
  },
  timeout,
);

async function cutPower(order: string, cuts: number): Promise<Losses> {
  using fixture = makeDirectory();
  mkdirSync(fixture.at('disk'));
  const program = join(import.meta.dirname, '../fixtures/power-cut.ts');
  const args = ['--mount', process.execPath, program, order, fixture.path, String(cuts)];
  const { stdout } = await promisify(execFile)('unshare', args);
  return JSON.parse(stdout);
}

/** Takes root, a loop device and the programs for it. */
function canMount(): boolean {
  using fixture = makeDirectory();
  const image = fixture.at('disk.img');
  const script = `truncate --size 8M '${image}' && mkfs.ext4 -q -F '${image}' && mount -o loop '${image}' /mnt && perl -v`;
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', script], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
