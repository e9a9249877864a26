import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { findGroups } from './find-groups.ts';
import { groupParentName } from './group-directory.ts';
import { locateVersion1 } from './locate-group.ts';
import { outOfServerGroup } from './put-server-first.ts';

const own = readFileSync('/proc/self/cgroup', 'utf8');
const base = resolve(outOfServerGroup(locateVersion1(own, 'cpu')) ?? '');
const found = findGroups();
const canOrder = 'version' in found && found.version === 1;
if (!canOrder) console.warn('SKIPPED: no server has its own processor group on this host');

const limits = { memoryBytes: 64 * 1024 * 1024, processes: 20, cpus: 1 };
const module = (name: string) => JSON.stringify(join(import.meta.dirname, name));

/** Starts a process that has put itself first, with one worker thread and one group for a sandbox. */
async function startOrdered() {
  const source = `
    import { readFileSync } from 'node:fs';
    import { Worker } from 'node:worker_threads';
    import { findGroups } from ${module('find-groups.ts')};
    import { putServerFirst } from ${module('put-server-first.ts')};
    putServerFirst();
    findGroups().create('one', ${JSON.stringify(limits)});
    const worker = new Worker(\`
      import { readFileSync } from 'node:fs';
      import { parentPort } from 'node:worker_threads';
      import { joinWorkersGroup } from ${module('put-server-first.ts')};
      joinWorkersGroup();
      parentPort.postMessage(readFileSync('/proc/thread-self/cgroup', 'utf8'));
    \`, { eval: true });
    worker.on('message', (thread) =>
      console.log(JSON.stringify({ thread, main: readFileSync('/proc/thread-self/cgroup', 'utf8') })));
    process.stdin.on('data', () => process.exit());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`ended with ${code}`)));
  const [answer] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  const { thread, main } = JSON.parse(String(answer)) as { thread: string; main: string };
  return { child, thread, main, parent: join(base, groupParentName(child.pid ?? 0)) };
}

const isIdle = (directory: string) => readFileSync(join(directory, 'cpu.idle'), 'utf8').trim() === '1';

test.skipIf(!canOrder)('a server and its sandboxes run before its worker threads', async () => {
  const { child, thread, main, parent } = await startOrdered();
  expect(locateVersion1(main, 'cpu')).toBe(join(parent, 'server'));
  expect(locateVersion1(thread, 'cpu')).toBe(join(parent, 'workers'));
  const groups = ['.', 'server', 'one', 'workers'].map((name) => join(parent, name));
  expect(groups.map(isIdle)).toEqual([false, false, false, true]);
  child.stdin.write('.');
  await once(child, 'exit');
  expect(existsSync(parent)).toBe(false);
});

test.skipIf(!canOrder)('the groups of a server that was killed are removed by the next', async () => {
  const { child, parent } = await startOrdered();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(parent)).toBe(true);
  findGroups();
  expect(existsSync(parent)).toBe(false);
});

test.skipIf(!canOrder)('groups of a process that a server starts are beside those of the server', () => {
  const inside = own.replace(
    /^(\d+:(?:[\w,]*,)?cpu(?:,\w+)?:.*)$/m,
    (line) => `${line.replace(/\/$/, '')}/croft-12-34/server`,
  );
  expect(inside).not.toBe(own);
  expect(locateVersion1(inside, 'cpu')).toBe(join(base, 'croft-12-34/server'));
  expect(outOfServerGroup(locateVersion1(inside, 'cpu'))).toBe(base);
});
