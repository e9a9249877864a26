import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findGroups, type GroupLimits, type Groups } from './cgroup.ts';

const found = findGroups();
const reason = 'reason' in found ? found.reason : undefined;
if (reason !== undefined) console.warn(`SKIPPED the tests of control groups: ${reason}`);
const groups = found as Groups;
const limits: GroupLimits = { memoryBytes: 64 * 1024 * 1024, processes: 20, cpus: 0.5 };

/** Where the directories of this process are, for every controller. */
const parents = reason === undefined ? findParents('/sys/fs/cgroup') : [];
afterAll(() => {
  for (const parent of parents) rmdirSync(parent);
});

function findParents(root: string, depth = 0): string[] {
  if (depth > 4) return [];
  const below = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return below.flatMap(({ name }) => {
    const path = join(root, name);
    return name === `croft-${process.pid}` ? [path] : findParents(path, depth + 1);
  });
}

/** What is in the file of that name, of whichever controller has it. */
function read(group: string, file: string): string | undefined {
  const path = parents.map((parent) => join(parent, group, file)).find((candidate) => existsSync(candidate));
  return path === undefined ? undefined : readFileSync(path, 'utf8').trim();
}

const directoriesOf = (group: string) =>
  parents.map((parent) => join(parent, group)).filter((path) => existsSync(path));

/** A shell that does what it reads, and says when it is there. */
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

test.skipIf(reason)('a group has its limits, and nothing in it', async () => {
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

test.skipIf(reason)('a process that was added counts, with what it starts, until it is gone', async () => {
  const group = groups.create('process', limits);
  try {
    await using shell = await startShell();
    group.add(shell.pid);
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
    group.add(shell.pid);
    // A shell that cannot fork ends.
    await Promise.race([shell.ask('/bin/true; echo refused'), shell.end()]);
    expect(group.usage().refusedForks).toBeGreaterThan(0);
  } finally {
    await group.remove();
  }
});

test.skipIf(reason)('removal waits for the last process', async () => {
  const group = groups.create('waits', limits);
  await using shell = await startShell();
  group.add(shell.pid);
  const removed = group.remove();
  expect(directoriesOf('waits')).not.toEqual([]);
  await shell.end();
  await removed;
  expect(directoriesOf('waits')).toEqual([]);
});

test.skipIf(reason)('a group cannot be made twice, and removing it twice is fine', async () => {
  const group = groups.create('twice', limits);
  expect(() => groups.create('twice', limits)).toThrow('EEXIST');
  await group.remove();
  await group.remove();
  expect(directoriesOf('twice')).toEqual([]);
});

test.skipIf(reason)('what cannot be made leaves nothing behind', () => {
  expect(() => groups.create('broken', { ...limits, memoryBytes: Number.NaN })).toThrow();
  const left = directoriesOf('broken');
  for (const path of left) rmdirSync(path);
  expect(left).toEqual([]);
});
