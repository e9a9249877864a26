import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import type { DiskGrowthRequest } from './growth-tally.ts';
import { measureGrowth } from './measure-growth.ts';
import { namespaceOf } from './namespace-processes.ts';

const kilobyte = 1024;

function make(tree: Record<string, string | Buffer> = {}) {
  const directory = makeDirectory(tree);
  onTestFinished(() => directory[Symbol.dispose]());
  return directory;
}

/** Returns a time that is later than everything before, by the kernel's clock too. */
async function now(): Promise<number> {
  const at = Date.now();
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(at + 20));
  return Date.now() - 10;
}

function measure(path: string, since: number, changed: Partial<DiskGrowthRequest> = {}) {
  const endless = { enoughBytes: Number.POSITIVE_INFINITY, enoughFiles: Number.POSITIVE_INFINITY };
  const steps = measureGrowth({ directories: [path], since, namespace: undefined, ...endless, ...changed });
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done) return { ...step.value, steps: count };
  }
}

const block = (size = 64) => Buffer.alloc(size * kilobyte, 1);

test('counts new files, and changed files apart from them', async () => {
  const directory = make({ 'old/kept': block(), 'old/changed': block(), 'old/grown': block() });
  const since = await now();
  chmodSync(directory.at('old/changed'), 0o600);
  writeFileSync(directory.at('old/grown'), block(128));
  utimesSync(directory.at('old/grown'), 1, 1);
  writeFileSync(directory.at('old/new'), block());
  mkdirSync(directory.at('new/below'), { recursive: true });
  writeFileSync(directory.at('new/below/new'), block());
  utimesSync(directory.at('new/below/new'), 1, 1);
  const { madeBytes, madeFiles, changedBytes, isWhole } = measure(directory.path, since);
  expect(madeBytes).toBeGreaterThanOrEqual(128 * kilobyte);
  expect(madeBytes).toBeLessThan(160 * kilobyte);
  expect(changedBytes).toBeGreaterThanOrEqual(192 * kilobyte);
  expect(changedBytes).toBeLessThan(224 * kilobyte);
  expect({ madeFiles, isWhole }).toEqual({ madeFiles: 4, isWhole: true });
});

test('a file with two names counts once, and a file outside does not count', async () => {
  const outside = make();
  const since = await now();
  const directory = make({ one: block() });
  linkSync(directory.at('one'), directory.at('two'));
  writeFileSync(outside.at('large'), block(1024));
  symlinkSync(outside.path, directory.at('directory'));
  symlinkSync(outside.at('large'), directory.at('file'));
  const { madeBytes } = measure(directory.path, since);
  expect(madeBytes).toBeGreaterThanOrEqual(64 * kilobyte);
  expect(madeBytes).toBeLessThan(96 * kilobyte);
});

test('odd names and paths over the length limit are counted', async () => {
  const since = await now();
  const directory = make();
  const odd = Buffer.concat([Buffer.from(`${directory.path}/`), Buffer.from([0xff, 0xfe, 0x0a])]);
  mkdirSync(odd);
  writeFileSync(Buffer.concat([odd, Buffer.from('/\u00e9\xff', 'latin1')]), block());
  const name = 'x'.repeat(200);
  const dig = `i=0; while [ $i -lt 40 ]; do mkdir ${name} && cd -P ${name} || exit 1; i=$((i+1)); done`;
  execFileSync('sh', ['-c', `${dig}; head -c 65536 /dev/zero > deep`], { cwd: directory.path });
  onTestFinished(() => void execFileSync('rm', ['-rf', directory.path]));
  const { madeBytes, madeFiles, isWhole } = measure(directory.path, since);
  expect(madeBytes).toBeGreaterThanOrEqual(128 * kilobyte);
  expect({ madeFiles, isWhole }).toEqual({ madeFiles: 43, isWhole: true });
});

test('reports when a directory could not be read', async () => {
  const since = await now();
  const directory = make();
  const dig = 'i=0; while [ $i -lt 200 ]; do mkdir x && cd x || exit 1; i=$((i+1)); done';
  execFileSync('sh', ['-c', dig], { cwd: directory.path });
  expect(measure(directory.path, since)).toMatchObject({ isWhole: false });
});

test('works in steps, and stops as soon as the result is clear', async () => {
  const since = await now();
  const directory = make();
  execFileSync('sh', ['-c', 'for i in 1 2 3 4 5; do mkdir $i; (cd $i; touch $(seq 1 400)); done'], {
    cwd: directory.path,
  });
  expect(measure(directory.path, since)).toMatchObject({ madeFiles: 2005 });
  expect(measure(directory.path, since).steps).toBeGreaterThan(20);
  expect(measure(directory.path, since, { enoughFiles: 100 })).toMatchObject({ madeFiles: 101 });
});

test('a deleted file counts while a process of the namespace has it open', async () => {
  const since = await now();
  const directory = make();
  const child = spawn('sh', ['-c', 'exec 3>f; head -c 65536 /dev/zero >&3; rm f; echo up; cat'], {
    cwd: directory.path,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(measure(directory.path, since).madeBytes).toBe(0);
  const namespace = namespaceOf(process.pid);
  // Two processes have the file open: the shell and the program it runs.
  const { madeBytes } = measure(directory.path, since, { namespace });
  expect(madeBytes).toBe(64 * kilobyte);
  rmSync(directory.path, { recursive: true });
  expect(measure(directory.path, since, { namespace })).toMatchObject({ madeBytes: 0, isWhole: true });
});
