import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runIn, shellIn, startIn, within } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import {
  counted,
  ended,
  limits,
  megabyte,
  open,
  startShell,
  waiting,
} from '../../../test/support/sandboxes/watchdog-fixture.ts';
import { createFilesystemSpaceReader, type DiskAmount } from '../../host/growth/disk-amount.ts';
import { createWatchdogs } from '../../host/limits/watchdog.ts';

function usedBytes(path: string): number {
  const entries = readdirSync(path, { withFileTypes: true });
  const sizes = entries.map((entry) =>
    entry.isDirectory() ? usedBytes(join(path, entry.name)) : statSync(join(path, entry.name)).blocks * 512,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const fill = 'i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > $i; done';

test('a program that fills the disk is ended, and its files can be deleted', async () => {
  const sandbox = await open();
  // Faster than the watchdog checks.
  const script =
    'import os\nfor i in range(6): os.posix_fallocate(os.open("large" + str(i), os.O_CREAT | os.O_WRONLY), 0, 15000000)';
  const filling = startShell(sandbox, `python3 -c '${script}'; ${fill}`);
  expect(await within(filling.exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([
    { layer: 'limit', rule: 'disk', target: '32 MB', next: expect.stringContaining('Delete') },
  ]);
  expect(sandbox.takeDenials()).toEqual([]);
  expect(usedBytes(sandbox.directory)).toBeGreaterThan(limits.diskBytes);

  // Another writer uses disk space, which makes the watchdog count again.
  const other = makeDirectory();
  onTestFinished(() => other[Symbol.dispose]());
  const slow = startShell(
    sandbox,
    'for i in $(seq 1 60); do rm -f $i; sleep 0.02; done; until [ -e seen ]; do sleep 0.02; done; rm -f *',
  );
  const before = counted.answers.growth;
  await vi.waitFor(() => {
    appendFileSync(other.at('other'), Buffer.alloc(4 * megabyte, 1));
    expect(counted.answers.growth).toBeGreaterThan(before);
  }, waiting);
  writeFileSync(join(sandbox.directory, 'seen'), '');
  expect(await slow.exit).toMatchObject({ code: 0 });
  expect(usedBytes(sandbox.directory)).toBe(0);
  expect(sandbox.takeDenials()).toEqual([]);

  // Afterwards the limit is the same as before.
  const little = 'for i in $(seq 1 40); do head -c 1000000 /dev/zero > $i; sleep 0.02; done; sleep 1000';
  expect(await within(startShell(sandbox, little).exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
});

test('a program that goes on writing over the limit is ended again', async () => {
  const sandbox = await open();
  await within(startShell(sandbox, fill).exit);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
  expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  expect(await within(startShell(sandbox, `mkdir more; cd more; ${fill}`).exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
});

test('a deleted file counts for as long as it is open', async () => {
  const sandbox = await open();
  const script = 'exec 3>a 4>b 5>c; rm a b c; for i in 3 4 5; do head -c 15000000 /dev/zero >&$i; done; sleep 1000';
  expect(await within(startShell(sandbox, script).exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
});

test('an old file counts when it grows, whatever its times say', async () => {
  const tree = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, 'old']));
  const sandbox = await open({ tree });
  const script =
    'for i in a b c; do head -c 15000000 /dev/zero >> $i; touch -d 2001-01-01 $i; done; while :; do sleep 1; done';
  expect(await within(startShell(sandbox, script).exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
});

test('old files that are only touched do not count as growth', async () => {
  const tree = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, Buffer.alloc(12 * megabyte, 1)]));
  const sandbox = await open({ tree });
  const before = counted.answers.growth;
  const script = 'chmod 600 *; mv a e; ln b f; for i in 1 2 3 4 5 6 7; do head -c 2000000 /dev/zero > $i; done; cat';
  const running = startIn(sandbox, ['/bin/sh', '-c', script], { hasInput: true });
  running.stdout.resume();
  await vi.waitFor(() => expect(counted.answers.growth).toBeGreaterThan(before), waiting);
  running.stdin.end();
  expect(await running.exit).toMatchObject({ code: 0 });
  expect(sandbox.takeDenials()).toEqual([]);
});

test('a program that uses up the files of a filesystem is ended', async () => {
  const sandbox = await open({ diskBytes: 8 * megabyte });
  const script = 'for i in $(seq 1 200); do mkdir $i; (cd $i; touch $(seq 1 100)); done; sleep 1000';
  expect(await within(startShell(sandbox, script).exit)).toMatchObject(ended);
  const [denial] = sandbox.takeDenials();
  // Each directory counts as much as the smallest file that is not empty.
  expect(denial).toMatchObject({ layer: 'limit', rule: 'files', target: '2048 files' });
});

test('processes left behind by a program are ended too, and no others', async () => {
  const [sandbox, other] = await Promise.all([open(), open()]);
  const bystander = startIn(other, ['cat'], { hasInput: true });
  bystander.stdout.resume();
  expect(await startShell(sandbox, `setsid sh -c '${fill}' >/dev/null 2>&1 & exit 7`).exit).toMatchObject({ code: 7 });
  await vi.waitFor(() => expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]), waiting);
  const countProcesses = async () =>
    (await shellIn(sandbox, 'rm -f *; echo /proc/[0-9]*')).stdout.trim().split(' ').length;
  // A process that was killed is seen until it is reaped.
  await vi.waitFor(async () => expect(await countProcesses()).toBeLessThanOrEqual(3), waiting);
  bystander.stdin.end();
  expect(await bystander.exit).toMatchObject({ code: 0 });
});

test('only the growing sandbox is ended, not its neighbour, and not for writes of others', async () => {
  const [greedy, modest] = await Promise.all([open(), open()]);
  const asking = startIn(modest, ['cat'], { hasInput: true });
  asking.stdout.resume();
  expect(await within(startShell(greedy, fill).exit)).toMatchObject(ended);

  const outside = makeDirectory();
  onTestFinished(() => outside[Symbol.dispose]());
  const before = counted.answers.growth;
  writeFileSync(outside.at('large'), Buffer.alloc(2 * limits.diskBytes, 1));
  await vi.waitFor(() => expect(counted.answers.growth).toBeGreaterThan(before), waiting);
  expect((await runIn(modest, ['echo', 'here'])).stdout).toBe('here\n');
  asking.stdin.end();
  expect(await asking.exit).toMatchObject({ code: 0 });
  expect(modest.takeDenials()).toEqual([]);
});

test('a deleted file counts for as long as it is mapped', async () => {
  const sandbox = await open();
  const script = `
import mmap, os, time
maps = []
for i in range(4):
    file = os.open('f', os.O_RDWR | os.O_CREAT)
    for j in range(15): os.write(file, bytes(1000000))
    maps.append(mmap.mmap(file, 4096))
    # Its own handle, which Python would keep.
    os.unlink('f')
    for handle in os.listdir('/proc/self/fd'):
        try:
            if 'deleted' in os.readlink('/proc/self/fd/' + handle): os.close(int(handle))
        except OSError: pass
time.sleep(1000)`;
  const running = startIn(sandbox, ['python3', '-c', script]);
  running.stdout.resume();
  running.stderr.resume();
  expect(await within(running.exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk' }]);
});

test('on a nearly full disk, less than the limit is too much', async () => {
  const finder = createFilesystemSpaceReader();
  let takenBytes = 0;
  const less = (room: DiskAmount) => ({ ...room, bytes: room.bytes - takenBytes });
  const from = createWatchdogs({
    thread: counted.thread,
    finder: { now: (at) => less(finder.now(at)), recent: async (at) => less(await finder.recent(at)) },
  });
  const path = makeDirectory();
  onTestFinished(() => path[Symbol.dispose]());
  // Pretends that 30 MB are left.
  takenBytes = finder.now({ device: 0, path: path.path }).bytes - 30 * megabyte;
  const sandbox = await open({ from, diskBytes: 400 * megabyte });
  expect(await within(startShell(sandbox, fill).exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'disk', target: 'the disk of this machine is nearly full' }]);
});

test('costs nothing while no command runs', async () => {
  const countRoom = () => {
    const finder = createFilesystemSpaceReader();
    const count = { asked: 0 };
    const recent: typeof finder.recent = (at) => {
      count.asked++;
      return finder.recent(at);
    };
    return { count, from: createWatchdogs({ thread: counted.thread, finder: { ...finder, recent } }) };
  };
  const [idle, busy, leaving] = [countRoom(), countRoom(), countRoom()];
  const [first, second, third] = [await open(idle), await open(busy), await open(leaving)];
  await runIn(first, ['true']);
  await runIn(third, ['/bin/sh', '-c', 'sleep 1000 >/dev/null 2>&1 &']);
  const running = startIn(second, ['sleep', '1000']);
  await vi.waitFor(() => expect(busy.count.asked).toBeGreaterThan(3), waiting);
  const [before, busyBefore] = [idle.count.asked, busy.count.asked];
  await vi.waitFor(() => expect(busy.count.asked).toBeGreaterThan(busyBefore + 5), waiting);
  expect(idle.count.asked).toBe(before);
  // A background command may still write.
  expect(leaving.count.asked).toBeGreaterThan(5);
  running.kill();
  await running.exit;
});

/** Allocates `megabytes` of memory in each of `processes` processes. */
const hold = (processes: number, megabytes: number) => `
import os, time
for i in range(${processes} - 1):
    if os.fork() == 0: break
block = bytearray(os.urandom(1000)) * (${megabytes} * 1000)
print('held', flush=True)
time.sleep(1000)`;

test('without a group: the memory of all processes is limited together', async () => {
  const [sandbox, other] = await Promise.all([open({ hasGroup: false }), open({ hasGroup: false })]);
  // Each process alone is far below the limit.
  const running = startIn(sandbox, ['python3', '-c', hold(5, 80)]);
  running.stdout.resume();
  running.stderr.resume();
  expect(await within(running.exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ layer: 'limit', rule: 'memory', target: '256 MB' }]);
  expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  expect((await runIn(other, ['echo', 'here'])).stdout).toBe('here\n');
});

test('without a group: memory that processes share counts once', async () => {
  const sandbox = await open({ hasGroup: false });
  const before = counted.answers.usage;
  const script = `
import os, sys
block = bytearray(os.urandom(1000)) * 100000
for i in range(3): os.fork()
sys.stdin.read()`;
  const running = startIn(sandbox, ['python3', '-c', script], { hasInput: true });
  running.stdout.resume();
  running.stderr.resume();
  await vi.waitFor(() => expect(counted.answers.usage).toBeGreaterThan(before + 5), waiting);
  running.stdin.end();
  expect(await running.exit).toMatchObject({ code: 0 });
  expect(sandbox.takeDenials()).toEqual([]);
});

test('without a group: memory in deleted files counts', async () => {
  const sandbox = await open({ hasGroup: false });
  const script = `
import os, time
files = [os.memfd_create('x') for i in range(30)]
for file in files: os.write(file, bytes(15000000))
time.sleep(1000)`;
  const running = startIn(sandbox, ['python3', '-c', script]);
  running.stdout.resume();
  running.stderr.resume();
  expect(await within(running.exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'memory' }]);
});

// For all users but root, the kernel refuses the next process by rlimit.
test.skipIf(process.getuid?.() !== 0)('without a group: the number of processes is limited', async () => {
  const sandbox = await open({ hasGroup: false, processes: 40 });
  const running = startShell(sandbox, 'for i in $(seq 1 100); do setsid sleep 1000 & done; wait');
  expect(await within(running.exit)).toMatchObject(ended);
  expect(sandbox.takeDenials()).toMatchObject([{ rule: 'processes', target: '40 processes' }]);
  // Killed processes take a moment to disappear.
  await vi.waitFor(async () => {
    const { stdout } = await shellIn(sandbox, 'echo /proc/[0-9]*');
    expect(stdout.trim().split(' ').length).toBeLessThanOrEqual(3);
  }, waiting);
});
