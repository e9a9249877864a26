import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { describeSandbox, listCommands, runIn, shellIn, startIn, within } from '../../../test/contracts/sandbox.ts';
import { limits, makeFixture, megabyte, open } from '../../../test/support/sandboxes/bubblewrap-fixture.ts';
import { findGroups } from '../../lib/cgroup/find-groups.ts';
import { createBubblewrap } from './provider.ts';

const waiting = { interval: 20 };

describeSandbox('bubblewrap', () => open());

/** Without control groups another limit applies, which `watchdog.test.ts` tests. */
const hasGroups = !('reason' in findGroups());

describe('limits', () => {
  test.skipIf(!hasGroups)('memory over the limit ends that program and no other', async () => {
    const [{ sandbox }, other] = await Promise.all([open({}, { memoryBytes: 64 * megabyte }), open()]);
    const hungry = runIn(sandbox, ['/usr/bin/python3', '-c', 'x = b"x" * (512 << 20); print(len(x))']);
    const answers = Array.from({ length: 10 }, () => runIn(other.sandbox, ['echo', 'here']));
    for (const { stdout } of await Promise.all(answers)) expect(stdout).toBe('here\n');
    expect(await hungry).toMatchObject({ stdout: '', signal: 'SIGKILL' });
    expect(sandbox.takeDenials()).toMatchObject([{ layer: 'limit', rule: 'memory', target: '64 MB' }]);
    expect(sandbox.takeDenials()).toEqual([]);
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('files in /tmp count as memory, and the size of a file is limited', async () => {
    const { sandbox } = await open(
      {},
      { memoryBytes: 64 * megabyte, diskBytes: 16 * megabyte, fileBytes: 4 * megabyte },
    );
    expect(
      (await shellIn(sandbox, 'for i in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/zero > /tmp/$i || exit 1; done')).code,
    ).toBe(1);
    expect((await shellIn(sandbox, 'rm /tmp/*; head -c 5000000 /dev/zero > large')).code).not.toBe(0);
  });

  test.skipIf(!hasGroups)('a fork bomb stays in its sandbox, and ends when it is killed', async () => {
    const [{ sandbox }, other] = await Promise.all([open({}, { processes: 64 }), open()]);
    const bomb = startIn(sandbox, ['/bin/bash', '-c', 'b() { b | b & }; while :; do b; done']);
    bomb.stdout.resume();
    bomb.stderr.resume();
    await vi.waitFor(() => {
      expect(sandbox.takeDenials()).toMatchObject([{ rule: 'processes', target: '64 processes' }]);
    }, waiting);
    expect((await runIn(other.sandbox, ['echo', 'here'])).stdout).toBe('here\n');
    bomb.kill();
    expect(await within(bomb.exit)).toMatchObject({ signal: 'SIGKILL' });
    await vi.waitFor(async () => {
      expect((await listCommands(sandbox)).filter((command) => command.includes('do b'))).toEqual([]);
    }, waiting);
  });

  test.skipIf(!hasGroups)('a command without a free process slot is refused with the reason', async () => {
    const { sandbox } = await open({}, { processes: 24 });
    const take = "try:\n  while os.fork(): pass\nexcept OSError: print('all', flush=True)\ntime.sleep(1000)";
    const holding = startIn(sandbox, ['/usr/bin/python3', '-c', `import os, time\n${take}`]);
    await once(holding.stdout, 'data');
    await expect(runIn(sandbox, ['true'])).rejects.toMatchObject({
      code: 'E_COMMAND_NOT_STARTED',
      message: expect.stringContaining('the limit of processes is reached'),
    });
    holding.kill();
    await holding.exit;
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('two providers in one process do not disturb each other', async () => {
    await open();
    const second = createBubblewrap({ path: '', home: homedir() });
    const { directory } = makeFixture();
    const handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    const spec = {
      directoryFd: handle,
      workspacePath: '/workspace',
      limits,
      network: { mode: 'deny-all' },
      readable: [],
    } as const;
    const sandboxes = await Promise.all(
      [createBubblewrap({ path: '', home: homedir() }), second].map((one) => one.open(spec)),
    );
    for (const sandbox of sandboxes) await sandbox.close();
    closeSync(handle);
  });
});

test('kill −9 of the process that holds a sandbox leaves nothing of it', async () => {
  const { directory } = makeFixture();
  const seconds = String(7000 + Math.random());
  const script = `
    import { openSync } from 'node:fs';
    import { createBubblewrap } from ${JSON.stringify(join(import.meta.dirname, 'provider.ts'))};
    const provider = createBubblewrap({ path: process.env.PATH, home: '/nonexistent' });
    const limits = ${JSON.stringify(limits)};
    const directoryFd = openSync(${JSON.stringify(directory)}, 'r');
    const sandbox = await provider.open({ directoryFd, workspacePath: '/workspace', limits, network: { mode: 'deny-all' }, readable: [] });
    const argv = ['/bin/sh', '-c', 'setsid sleep ${seconds} & sleep ${seconds} & echo up; wait'];
    sandbox.start({ argv, signal: new AbortController().signal }).stdout.pipe(process.stdout);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    holder.kill('SIGKILL');
  });
  await once(holder.stdout, 'data');
  const inside = await vi.waitFor(() => {
    const found = namespacesOf(seconds);
    expect(found.size).toBe(1);
    return found;
  }, waiting);
  holder.kill('SIGKILL');
  await vi.waitFor(() => expect(membersOf(inside)).toEqual([]), waiting);
});

/** The process namespaces of the programs on this machine with `words` in their command line. */
function namespacesOf(words: string): Set<string> {
  const found = processes().filter((pid) =>
    lookAt(pid, () => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).includes(`sleep\0${words}\0`),
  );
  return new Set(found.map((pid) => namespaceOf(pid)));
}

function membersOf(namespaces: Set<string>): string[] {
  return processes().filter((pid) => namespaces.has(namespaceOf(pid)));
}

function processes(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

function namespaceOf(pid: string): string {
  return lookAt(pid, () => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Returns an empty text for a process that has ended meanwhile. */
function lookAt(_pid: string, read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
