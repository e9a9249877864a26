import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runIn, shellIn, startIn, uniqueSeconds } from '../contracts/sandbox.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { isRunning, openTestFixture } from './ports-fixture.ts';

const wanted = { limits: roomyLimits, network: { mode: 'deny-all' } } as const;

async function openSandbox() {
  const fixture = await openTestFixture();
  const sandbox = await fixture.workspace.openSandbox(wanted);
  onTestFinished(() => sandbox.close());
  return { ...fixture, sandbox };
}

test('a program that prints for ever waits for its reader, with bounded memory', async () => {
  const { sandbox } = await openSandbox();
  const running = startIn(sandbox, ['sh', '-c', 'yes; true']);
  await vi.waitFor(() => expect(running.stdout.readableLength).toBeGreaterThan(100_000));
  const counted = async () => {
    const { stdout } = await shellIn(
      sandbox,
      'for file in /proc/[0-9]*/io; do cat $file; done 2>/dev/null | grep wchar',
    );
    return Math.max(...stdout.split('\n').map((line) => Number(line.split(' ')[1] ?? 0)));
  };
  // The program stops writing long before memory grows.
  await vi.waitFor(async () => expect(await counted()).toBe(await counted()));
  expect(await counted()).toBeLessThan(4 * 1024 * 1024);
  expect(running.stdout.readableLength).toBeLessThan(1024 * 1024);
  running.stdout.destroy();
  running.kill();
  expect(await running.exit).toMatchObject({ signal: 'SIGKILL' });
});

test('the end of a program is one call and one answer, without others before or after', async () => {
  const { sandbox, server } = await openSandbox();
  const call = vi.spyOn(server, 'call');
  expect(await runIn(sandbox, ['echo', 'once'])).toMatchObject({ stdout: 'once\n', code: 0 });
  sandbox.takeDenials();
  expect(call.mock.calls.map(([method]) => method)).toEqual(['sandbox.start']);
});

test('a command longer than a message is started too', async () => {
  const { sandbox } = await openSandbox();
  const args = Array.from({ length: 9 }, () => '"'.repeat(100_000));
  const { stdout } = await runIn(sandbox, ['sh', '-c', 'printf %s "$@" | wc -c', 'sh', ...args]);
  expect(stdout.trim()).toBe('900000');
});

test('denials are known when the program has ended, and reported while it runs', async () => {
  const fixture = await openTestFixture();
  const sandbox = await fixture.workspace.openSandbox({ ...wanted, limits: { ...roomyLimits, processes: 16 } });
  onTestFinished(() => sandbox.close());
  // In a shell of its own: the one that cannot fork ends.
  const fork = '(for i in $(seq 40); do sleep 1000 & done) 2>/dev/null';
  const goesOn = startIn(sandbox, ['sh', '-c', `${fork}; exec sleep ${uniqueSeconds()}`]);
  const seen: string[] = [];
  await vi.waitFor(() => {
    seen.push(...sandbox.takeDenials().map(({ rule }) => rule));
    expect(seen).toContain('processes');
  });
  goesOn.kill();
  await goesOn.exit;
});

test('a lost link ends the programs started over it, on both sides', async () => {
  const { sandbox, server, runner } = await openSandbox();
  const seconds = uniqueSeconds();
  const running = startIn(sandbox, ['sleep', seconds]);
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(true));
  server.close('the cable is gone');
  await expect(running.exit).rejects.toMatchObject({ code: 'E_RUNNER_LOST' });
  expect(await text(running.stdout)).toBe('');
  await sandbox.closed;
  await expect(async () => startIn(sandbox, ['true']).exit).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  await runner.lost;
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(false));
});

test('a sandbox that ends by itself is gone on the server too, without losing its output', async () => {
  const { offered, workspace } = await openTestFixture();
  const opened: Awaited<ReturnType<typeof offered.openSandbox>>[] = [];
  const open = offered.openSandbox;
  offered.openSandbox = async (asked) => {
    const made = await open(asked);
    opened.push(made);
    return made;
  };
  const sandbox = await workspace.openSandbox(wanted);
  const running = startIn(sandbox, ['sh', '-c', `echo before; exec sleep ${uniqueSeconds()}`]);
  await once(running.stdout, 'readable');
  await opened[0]?.close();
  await expect(running.exit).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
  expect(await text(running.stdout)).toBe('before\n');
  await sandbox.closed;
  await sandbox.close();
});

test('close waits until the sandbox is gone', async () => {
  const { sandbox, offered } = await openSandbox();
  const seconds = uniqueSeconds();
  startIn(sandbox, ['sleep', seconds]);
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(true));
  await sandbox.close();
  expect(isRunning(seconds)).toBe(false);
  expect(offered.access).toBe('read-write');
});

test('a cancelled call ends its program, and the sandbox stays', async () => {
  const { sandbox, server } = await openSandbox();
  const call = vi.spyOn(server, 'call');
  await runIn(sandbox, ['true']);
  const [[, params] = []] = call.mock.calls;
  const { sandbox: id } = params as { sandbox: string };
  const seconds = uniqueSeconds();
  const controller = new AbortController();
  const command = { argv: ['sleep', seconds], hasInput: false, isMerged: false };
  const { answer } = server.call('sandbox.start', { sandbox: id, command }, { signal: controller.signal });
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(true));
  controller.abort(new Error('taken back'));
  await expect(answer).rejects.toThrow('taken back');
  await vi.waitFor(() => expect(isRunning(seconds)).toBe(false));
  expect(await runIn(sandbox, ['true'])).toMatchObject({ code: 0 });
});

test('an unread output does not block its program', async () => {
  const { sandbox, at } = await openSandbox();
  writeFileSync(at('large.txt'), 'x'.repeat(3_000_000));
  const running = startIn(sandbox, ['sh', '-c', 'cat large.txt large.txt; exit 4']);
  running.stdout.destroy();
  expect(await running.exit).toMatchObject({ code: 4 });
});
