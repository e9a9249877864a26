import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { createMirror, expectSame, findFollowers } from '../../test/support/tree-mirror.ts';
import { findInit } from './find-init.ts';
import { encodeOpen, toFollower } from './follow-frames.ts';
import { createFollower } from './follower.ts';
import { encodeInitFrame } from './init-frames.ts';

const waiting = { timeout: 20_000, interval: 20 };
const isAlive = (pid: number) => fs.existsSync(`/proc/${pid}`);

async function makeFollowed(tree: Record<string, string>) {
  const fixture = makeDirectory(tree);
  const handle = fs.openSync(fixture.path, 'r');
  const before = new Set(findFollowers());
  const findProcess = () => findFollowers().filter((pid) => !before.has(pid));
  const follower = createFollower(findInit);
  const following = await follower.open(handle);
  onTestFinished(() => {
    following.close();
    fs.closeSync(handle);
    fixture[Symbol.dispose]();
  });
  return { ...fixture, handle, follower, following, findProcess };
}

test('one process follows all trees', async () => {
  const { follower, following, handle, findProcess } = await makeFollowed({ a: '' });
  const another = await follower.open(handle);
  onTestFinished(() => another.close());
  await Promise.all([following.take(), another.take()]);
  expect(findProcess()).toHaveLength(1);
});

test('a killed process is replaced by another, whose first answer is complete', async () => {
  const { at, path, following, findProcess } = await makeFollowed({ 'a/b': '' });
  const mirror = createMirror(following);
  let changes = 0;
  following.onChange(() => changes++);
  for (let i = 0; i < 3; i++) {
    await mirror.take();
    expectSame(mirror.entries, path);
    const [pid = 0] = findProcess();
    changes = 0;
    process.kill(pid, 'SIGKILL');
    fs.writeFileSync(at(`a/${i}`), '');
    // Listeners must look again, because nobody knows what they missed.
    if (i > 0) await vi.waitFor(() => expect(changes).toBeGreaterThan(0), waiting);
    expect((await mirror.take()).isWhole).toBe(true);
    expectSame(mirror.entries, path);
    expect(findProcess().filter((each) => each !== pid)).toHaveLength(1);
  }
  await vi.waitFor(() => {
    fs.writeFileSync(at('a/b'), String(Math.random()));
    expect(changes).toBeGreaterThan(1);
  }, waiting);
});

test('a process that fails to start is reported, and not started for ever', async () => {
  using fixture = makeDirectory();
  const handle = fs.openSync(fixture.path, 'r');
  onTestFinished(() => fs.closeSync(handle));
  let program = '/nonexistent';
  const follower = createFollower(() => program);
  await expect(follower.open(handle)).rejects.toThrow('has ended');
  program = '/bin/false';
  await expect(follower.open(handle)).rejects.toThrow('has ended');
  program = findInit();
  const following = await follower.open(handle);
  expect((await following.take()).sightings).toEqual([]);
  following.close();
  await expect(following.take()).rejects.toThrow('no longer followed');
});

test('closing a tree ends a request for it that is in progress', async () => {
  const { following } = await makeFollowed({ a: '' });
  const asked = following.take();
  following.close();
  following.close();
  await expect(asked).rejects.toThrow('no longer followed');
});

test('a change is announced once until the next request', async () => {
  const { at, following } = await makeFollowed({ 'a/b': '' });
  let reports = 0;
  await following.take();
  const listening = following.onChange(() => reports++);
  fs.writeFileSync(at('a/b'), 'x');
  await vi.waitFor(() => expect(reports).toBe(1), waiting);
  for (let i = 0; i < 100; i++) fs.writeFileSync(at('a/b'), String(i));
  await following.take();
  expect(reports).toBe(1);
  fs.writeFileSync(at('a/b'), 'y');
  await vi.waitFor(() => expect(reports).toBe(2), waiting);
  listening[Symbol.dispose]();
  await following.take();
  fs.writeFileSync(at('a/b'), 'z');
  await following.take();
  await following.take();
  expect(reports).toBe(2);
});

const followAndSay = (then: string) => `
  import { createFollower } from '${join(import.meta.dirname, 'follower.ts')}';
  import { findInit } from '${join(import.meta.dirname, 'find-init.ts')}';
  import { openSync, readFileSync } from 'node:fs';
  const following = await createFollower(findInit).open(openSync(process.argv[1], 'r'));
  following.onChange(() => {});
  console.log((await following.take()).sightings.length, readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8'));
  ${then}`;

function startServer(then: string, path: string) {
  const argv = ['--input-type=module', '-e', followAndSay(then), path];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, exited: once(child, 'exit'), said: once(child.stdout, 'data').then(([bytes]) => String(bytes)) };
}

test('a program with nothing else to do exits, and its follower with it', async () => {
  using fixture = makeDirectory({ a: '' });
  const { said, exited } = startServer('', fixture.path);
  const [count, pid] = (await said).trim().split(' ').map(Number);
  expect(count).toBe(1);
  expect((await exited)[0]).toBe(0);
  await vi.waitFor(() => expect(isAlive(pid ?? 0)).toBe(false), waiting);
});

test('the follower exits with a server that is killed', async () => {
  using fixture = makeDirectory({ a: '' });
  const { child, said } = startServer('setInterval(() => {}, 1000);', fixture.path);
  const [, pid = 0] = (await said).trim().split(' ').map(Number);
  expect(isAlive(pid)).toBe(true);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), waiting);
});

/** Makes random changes in a tree, as fast as it can. */
const turmoil = `
  const fs = require('node:fs');
  const pick = (...of) => of[Math.floor(Math.random() * of.length)];
  const place = () => process.argv[1] + '/' + Array.from({ length: pick(1, 2, 3, 4) }, () => pick('a', 'b', 'c', 'd')).join('/');
  const acts = [
    () => fs.mkdirSync(place(), { recursive: true }),
    () => fs.mkdirSync(place(), { recursive: true }),
    () => fs.writeFileSync(place(), String(Math.random())),
    () => fs.appendFileSync(place(), 'x'),
    () => fs.renameSync(place(), place()),
    () => fs.renameSync(place(), place()),
    () => fs.chmodSync(place(), pick(0o700, 0o755)),
    () => fs.symlinkSync(place(), place()),
    () => Math.random() < 0.2 && fs.rmSync(place(), { recursive: true }),
  ];
  for (let i = 0; i < 10000; i++) try { pick(...acts)(); } catch {}`;

test('changes during a request are known in the end', { timeout: 120_000 }, async () => {
  const { path, following, findProcess } = await makeFollowed({ 'a/b/c': '' });
  const mirror = createMirror(following, { isChanging: true });
  const before = findProcess();
  const child = spawn(process.execPath, ['-e', turmoil, path], { stdio: 'inherit' });
  let isOver = false;
  const exited = once(child, 'exit').then(() => {
    isOver = true;
  });
  let takes = 0;
  while (!isOver) {
    await mirror.take();
    takes++;
  }
  await exited;
  await mirror.take();
  expectSame(mirror.entries, path);
  expect(takes).toBeGreaterThan(10);
  expect(findProcess()).toEqual(before);
});

test('changes lost to a full queue of the kernel are found by searching', { timeout: 60_000 }, async () => {
  const { at, path, following, findProcess } = await makeFollowed({ a: '', b: '', 'c/d': '' });
  const mirror = createMirror(following);
  await mirror.take();
  const room = Number(fs.readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  const [pid = 0] = findProcess();
  process.kill(pid, 'SIGSTOP');
  for (let i = 0; i <= room; i++) fs.utimesSync(at(i % 2 === 0 ? 'a' : 'b'), i, i);
  fs.writeFileSync(at('c/d'), 'of this nobody was told');
  process.kill(pid, 'SIGCONT');
  expect((await mirror.take()).isWhole).toBe(true);
  expectSame(mirror.entries, path);
  expect((await mirror.take()).sightings).toEqual([]);
});

test('changes while a server reads slowly are known in the end', { timeout: 60_000 }, async () => {
  const tree = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`${i % 20}/${i % 400}/file-${i}`, '']));
  const { at, path, following, findProcess } = await makeFollowed(tree);
  const mirror = createMirror(following, { isChanging: true });
  const before = findProcess();
  for (let round = 0; round < 3; round++) {
    const taken = mirror.take();
    // Leaves the reader no time to read the events.
    for (let i = round; i < 400; i += 20) {
      fs.rmSync(at(`${i % 20}/${i}`), { recursive: true });
      fs.renameSync(at(`${(i + 5) % 20}`), at(`moved-${round}-${i}`));
      fs.renameSync(at(`moved-${round}-${i}`), at(`${(i + 5) % 20}`));
      fs.mkdirSync(at(`${(i + 7) % 20}/new-${round}-${i}/deeper`), { recursive: true });
    }
    await taken;
  }
  await mirror.take();
  expectSame(mirror.entries, path);
  expect(findProcess()).toEqual(before);
});

test('invalid orders end the follower without another effect', { timeout: 60_000 }, async () => {
  using fixture = makeDirectory({ 'a/b': '' });
  const handle = fs.openSync(fixture.path, 'r');
  onTestFinished(() => fs.closeSync(handle));
  const open = encodeOpen(handle);
  const order = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .tuple(fc.constantFrom(...Object.values(toFollower)), fc.nat(3), fc.nat(3), fc.nat(open.length + 1))
      .map(([type, id, detail, length]) =>
        encodeInitFrame(type, id, detail, type === toFollower.open ? open.subarray(0, length) : undefined),
      ),
    fc.nat(3).map((id) => encodeInitFrame(toFollower.open, id, 0, open)),
    fc.nat(3).map((id) => encodeInitFrame(toFollower.take, id)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(order, { maxLength: 20 }), async (orders) => {
      const child = spawn(findInit(), ['--follow', '10', '10'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
      const socket = child.stdio[3] as Duplex;
      socket.on('error', () => {}).resume();
      socket.end(Buffer.concat(orders));
      const [code] = await once(child, 'exit');
      expect([0, 2]).toContain(code);
    }),
    { numRuns: 60 },
  );
});
