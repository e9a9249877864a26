import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { childrenOf, killProcesses, namespaceOf, processesIn, usageOf } from './namespace-processes.ts';

const megabyte = 1024 * 1024;

/** Starts a shell in its own PID namespace. The shell reports that it is ready and then runs the script. */
async function startNamespace(script: string) {
  const child = spawn(
    'bwrap',
    [
      '--unshare-pid',
      '--as-pid-1',
      '--die-with-parent',
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      'sh',
      '-c',
      script,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await once(child.stdout, 'data');
  const [pid] = childrenOf(child.pid!) ?? [];
  return { pid: pid!, namespace: namespaceOf(pid!)! };
}

test('finds the processes of a namespace, whatever their parents are', async () => {
  const one = await startNamespace('setsid sleep 1000 & (sleep 1000 &); echo up; cat');
  const two = await startNamespace('echo up; cat');
  expect(one.namespace).not.toBe(namespaceOf(process.pid));
  // The last process of each is started after the ready message.
  await vi.waitFor(() => expect(processesIn(one.namespace)).toHaveLength(4));
  await vi.waitFor(() => expect(processesIn(two.namespace)).toHaveLength(2));
  expect(childrenOf(one.pid)).toHaveLength(3);
  expect(processesIn(one.namespace)).toEqual(expect.arrayContaining([one.pid, ...(childrenOf(one.pid) ?? [])]));
});

test('ends all processes but the first, though they start others all the time', async () => {
  const { pid, namespace } = await startNamespace(
    'for i in 1 2 3 4 5; do (while :; do sleep 0.005 & wait; done) & done; echo up; read line; wait',
  );
  expect(processesIn(namespace).length).toBeGreaterThan(5);
  killProcesses(namespace, pid);
  // At most their zombies are left until a parent reaps them.
  const alive = () => processesIn(namespace).filter((each) => each !== pid && !isZombie(each));
  await vi.waitFor(() => expect(alive()).toEqual([]));
  expect(namespaceOf(pid)).toBe(namespace);
});

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

test('memory that processes share counts once', async () => {
  const hold = (then: string) =>
    `exec python3 -c "import os, time; block = bytearray(os.urandom(1000)) * 50000; ${then}; print('up', flush=True); time.sleep(1000)"`;
  const shared = await startNamespace(hold('[os.fork() for i in range(2)]'));
  await vi.waitFor(() => expect(processesIn(shared.namespace)).toHaveLength(4));
  const { memoryBytes } = usageOf(processesIn(shared.namespace), 64 * megabyte);
  expect(memoryBytes).toBeGreaterThan(45 * megabyte);
  expect(memoryBytes).toBeLessThan(120 * megabyte);
});

test('a process that is gone has no namespace and no children', () => {
  expect(namespaceOf(2 ** 30)).toBeUndefined();
  expect(childrenOf(2 ** 30)).toBeUndefined();
  expect(processesIn('pid:[1]')).toEqual([]);
  expect(usageOf([2 ** 30], 0)).toEqual({ processes: 1, memoryBytes: 0 });
});
