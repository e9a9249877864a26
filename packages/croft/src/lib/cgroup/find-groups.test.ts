import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findGroups, type GroupLimits, type Groups } from './find-groups.ts';
import { groupParentName } from './group-directory.ts';
import { locateGroup } from './locate-group.ts';

const found = findGroups();
const reason = 'reason' in found ? found.reason : undefined;
if (reason !== undefined) console.warn(`SKIPPED the tests of control groups: ${reason}`);
const groups = found as Groups;
const limits: GroupLimits = { memoryBytes: 64 * 1024 * 1024, processes: 20, cpus: 0.5 };

/** Returns nothing for a group that another process has removed meanwhile. */
function listDirectories(root: string) {
  try {
    return readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  } catch {
    return [];
  }
}

/** Lists the directories above the groups of a process, for every controller. */
function findParents(name = groupParentName(process.pid), root = '/sys/fs/cgroup', depth = 0): string[] {
  if (depth > 4) return [];
  return listDirectories(root).flatMap((entry) => {
    const path = join(root, entry.name);
    return entry.name === name ? [path] : findParents(name, path, depth + 1);
  });
}

/** Reads a file from the controller that has it. */
function read(group: string, file: string): string | undefined {
  const path = findParents()
    .map((parent) => join(parent, group, file))
    .find((candidate) => existsSync(candidate));
  return path === undefined ? undefined : readFileSync(path, 'utf8').trim();
}

const directoriesOf = (group: string) =>
  findParents()
    .map((parent) => join(parent, group))
    .filter((path) => existsSync(path));

/** Starts a shell that runs the lines it reads, and reports when it is ready. */
async function startShell() {
  const child = spawn('sh', [], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const ask = async (script: string) => {
    child.stdin.write(`${script}\n`);
    const [answer] = await once(child.stdout, 'data');
    return String(answer).trim();
  };
  await ask('echo ready');
  return {
    ask,
    pid: child.pid!,
    async end() {
      child.stdin.end();
      return await exited;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const isUnified = ({ kind }: { kind: string }) => kind === 'cgroup2';

test.skipIf(locateGroup('/', isUnified) === undefined)('version 2 is found at its mount', () => {
  expect(existsSync(join(locateGroup('/', isUnified)!, 'cgroup.subtree_control'))).toBe(true);
});

test.skipIf(reason)('a group has its limits and no processes', async () => {
  const group = groups.create('limits', limits);
  try {
    const written =
      groups.version === 1
        ? ['memory.limit_in_bytes', 'pids.max', 'cpu.cfs_quota_us', 'cpu.cfs_period_us']
        : ['memory.max', 'pids.max', 'cpu.max'];
    const values = groups.version === 1 ? ['67108864', '20', '50000', '100000'] : ['67108864', '20', '50000 100000'];
    expect(written.map((file) => read('limits', file))).toEqual(values);
    expect(group.usage()).toMatchObject({ processes: 0, memoryKills: 0, refusedForks: 0 });
  } finally {
    await group.remove();
  }
  expect(directoriesOf('limits')).toEqual([]);
});

test.skipIf(reason)('an added process counts, with its children, until it exits', async () => {
  const group = groups.create('process', limits);
  try {
    await using shell = await startShell();
    await group.add(shell.pid);
    expect(directoriesOf('process').map((path) => readFileSync(join(path, 'cgroup.procs'), 'utf8').trim())).toEqual(
      directoriesOf('process').map(() => String(shell.pid)),
    );
    expect(group.usage().processes).toBe(1);

    await shell.ask('sleep 1000 & echo started');
    expect(group.usage().processes).toBe(2);
    expect(group.usage().memoryBytes).toBeGreaterThan(0);
    await shell.ask('kill $!; wait; echo gone');
    await shell.end();
    expect(group.usage().processes).toBe(0);
  } finally {
    await group.remove();
  }
  expect(directoriesOf('process')).toEqual([]);
});

test.skipIf(reason)('forks beyond the limit are refused, and counted', async () => {
  const group = groups.create('forks', { ...limits, processes: 1 });
  try {
    await using shell = await startShell();
    await group.add(shell.pid);
    // A shell ends when it cannot fork.
    await Promise.race([shell.ask('/bin/true; echo refused'), shell.end()]);
    expect(group.usage().refusedForks).toBeGreaterThan(0);
  } finally {
    await group.remove();
  }
});

test.skipIf(reason)('removal waits for the last process of a group', async () => {
  const group = groups.create('waits', limits);
  await using shell = await startShell();
  await group.add(shell.pid);
  const removed = group.remove();
  expect(directoriesOf('waits')).not.toEqual([]);
  await shell.end();
  await removed;
  expect(directoriesOf('waits')).toEqual([]);
});

test.skipIf(reason)('a group cannot be made twice, and can be removed twice', async () => {
  const group = groups.create('twice', limits);
  expect(() => groups.create('twice', limits)).toThrow('EEXIST');
  expect(group.usage().processes).toBe(0);
  await group.remove();
  await group.remove();
  expect(directoriesOf('twice')).toEqual([]);
});

test.skipIf(reason)('nothing of this process stays after its last group is removed, or after it exits', async () => {
  const [first, second] = [groups.create('first', limits), groups.create('second', limits)];
  await first.remove();
  expect(findParents()).not.toEqual([]);
  await second.remove();
  expect(findParents()).toEqual([]);

  const child = startOther("console.log('up'); process.stdin.on('data', () => process.exit())");
  await once(child.stdout, 'data');
  expect(findParents(groupParentName(child.pid ?? 0))).not.toEqual([]);
  child.stdin.write('.');
  await once(child, 'exit');
  expect(findParents(groupParentName(child.pid ?? 0))).toEqual([]);
});

test.skipIf(reason)('the next server removes the groups that a killed process left', async () => {
  const child = startOther("process.kill(process.pid, 'SIGKILL')");
  await once(child, 'exit');
  expect(findParents(groupParentName(child.pid ?? 0))).not.toEqual([]);
  findGroups();
  expect(findParents(groupParentName(child.pid ?? 0))).toEqual([]);
});

/** Runs another process that makes a group, does something, and does not remove the group. */
function startOther(script: string) {
  const source = `
    import { findGroups } from ${JSON.stringify(join(import.meta.dirname, 'find-groups.ts'))};
    findGroups().create('one', ${JSON.stringify(limits)});
    ${script}`;
  return spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] });
}

const small = {
  name: `croft-${process.pid}-small`,
  total: { memoryBytes: 48 * 1024 * 1024, processes: 3 },
};

test.skipIf(reason)('all groups together have a limit of processes', async () => {
  const both = findGroups(small) as Groups;
  const [one, two] = [both.create('one', limits), both.create('two', limits)];
  onTestFinished(async () => void (await Promise.all([one.remove(), two.remove()])));
  await using shell = await startShell();
  await using other = await startShell();
  await using another = await startShell();
  await one.add(shell.pid);
  for (const { pid } of [other, another]) await two.add(pid);
  // Far below the limit of the group itself: a shell that cannot fork ends or prints an error.
  expect(await Promise.race([shell.ask('/bin/true && echo forked'), shell.end()])).not.toBe('forked');
  await another.end();
  await using last = await startShell();
  await one.add(last.pid);
  expect(await last.ask('/bin/true && echo forked')).toBe('forked');
});

test.skipIf(reason)('all groups together have a limit of memory', async () => {
  const both = findGroups({ ...small, total: { ...small.total, processes: 100 } }) as Groups;
  const [one, two] = [both.create('one', limits), both.create('two', limits)];
  onTestFinished(async () => void (await Promise.all([one.remove(), two.remove()])));
  await using shell = await startShell();
  await using other = await startShell();
  await one.add(shell.pid);
  await two.add(other.pid);
  const hold = (then: string) =>
    `python3 -c "import time; block = b'x' * 30000000; print('held', flush=True); ${then}"`;
  // Each of them alone is within the limit.
  expect(await shell.ask(hold(''))).toBe('held');
  expect(await other.ask(`exec ${hold('time.sleep(1000)')}`)).toBe('held');
  void shell.ask(`exec ${hold('time.sleep(1000)')}`);
  await vi.waitFor(() => expect(one.usage().memoryKills + two.usage().memoryKills).toBeGreaterThan(0));
  expect(one.usage().memoryBytes + two.usage().memoryBytes).toBeLessThanOrEqual(small.total.memoryBytes);
});

test.skipIf(reason)('counts processor time of its processes, and lowers their priority when told to', async () => {
  const group = groups.create('computing', limits);
  onTestFinished(() => group.remove());
  await using shell = await startShell();
  await group.add(shell.pid);
  const before = group.processorMs?.() ?? Number.NaN;
  await shell.ask('i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo done');
  expect((group.processorMs?.() ?? Number.NaN) - before).toBeGreaterThan(10);
  group.giveWay(true);
  expect(read('computing', 'cpu.idle') ?? '1').toBe('1');
  group.giveWay(false);
  expect(read('computing', 'cpu.idle') ?? '0').toBe('0');
});

test.skipIf(reason)('a group that the kernel holds for long is reported, and removed in the end', async () => {
  const stuck: string[] = [];
  const late = findGroups({ name: `croft-${process.pid}-late`, onStuck: (paths) => stuck.push(...paths) }) as Groups;
  const group = late.create('late', limits);
  await using shell = await startShell();
  await group.add(shell.pid);
  await group.remove();
  expect(stuck.length).toBeGreaterThan(0);
  expect(stuck.some((path) => existsSync(path))).toBe(true);
  await shell.end();
  await vi.waitFor(() => expect(findParents(`croft-${process.pid}-late`)).toEqual([]));
});

test.skipIf(reason)('a group that cannot be made leaves nothing behind', () => {
  expect(() => groups.create('broken', { ...limits, memoryBytes: Number.NaN })).toThrow();
  const left = directoriesOf('broken');
  for (const path of left) rmdirSync(path);
  expect(left).toEqual([]);
});
