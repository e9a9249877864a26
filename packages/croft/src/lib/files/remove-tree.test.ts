import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeTree } from './remove-tree.ts';

function makeFixture(): string {
  const fixture = mkdtempSync(join(tmpdir(), 'croft-remove-'));
  onTestFinished(() => rmSync(fixture, { recursive: true, force: true }));
  return fixture;
}

function fill(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true });
  for (let index = 0; index < count; index++) writeFileSync(join(directory, `f${index}`), '');
}

/** Switches a path between a directory and a link until it is stopped. */
const swapping = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
const attempt = (work) => { try { work(); } catch {} };
process.stdout.write('x');
for (;;) {
  attempt(() => { renameSync('d', 'e'); symlinkSync(process.argv[1], 'd'); });
  pause();
  attempt(() => { unlinkSync('d'); });
  attempt(() => { renameSync('e', 'd'); });
  pause();
}`;

test('a directory that is swapped for a link during removal is not followed', async () => {
  const fixture = makeFixture();
  const [outside, tree] = [join(fixture, 'outside'), join(fixture, 'tree')];
  fill(outside, 3000);
  for (let round = 0; round < 3; round++) {
    fill(join(tree, 'd'), 3000);
    const swapper = spawn(process.execPath, ['-e', swapping, outside], {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(swapper, 'close');
    await once(swapper.stdout, 'data');
    await removeTree(tree).catch(() => {});
    swapper.kill('SIGKILL');
    await closed;
    await removeTree(tree);
    expect(readdirSync(outside)).toHaveLength(3000);
    expect(existsSync(tree)).toBe(false);
  }
});

test('removes trees of any depth, and accepts a missing one', async () => {
  const fixture = makeFixture();
  const tree = join(fixture, 'tree');
  mkdirSync(join(tree, ...Array.from({ length: 700 }, () => 'd'), 'end'), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe])]), '');
  await removeTree(tree);
  await removeTree(join(tree, 'nothing', 'here'));
  expect(readdirSync(fixture)).toEqual([]);
});
