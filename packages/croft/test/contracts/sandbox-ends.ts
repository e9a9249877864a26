import { expect, test, vi } from 'vitest';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import { compileText } from '../support/sandboxes/weaken-init.ts';
import {
  listCommands,
  type OpenedSandbox,
  runIn,
  shellIn,
  startIn,
  uniqueSeconds,
  waiting,
  within,
} from './sandbox-run.ts';

/** A program that asks its parent to trace it, sends itself a signal, and executes another program. */
const tracedProgram = `#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>
int main(int argc, char **argv) {
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(atoi(argv[1]));
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  return execvp(argv[2], argv + 2);
}
`;

export function describeEnds(open: () => Promise<OpenedSandbox>): void {
  /** Starts processes two generations away, in sessions of their own. */
  const scatter = (seconds: string) =>
    `setsid sh -c 'setsid sh -c "exec sleep ${seconds}" & exit' & (sleep ${seconds} &) ; exec sleep ${seconds}`;
  const countOf = async (sandbox: Sandbox, seconds: string) =>
    (await listCommands(sandbox)).filter((command) => command === `sleep ${seconds}`).length;

  test.each(['kill', 'abort'])('%s ends every descendant, whatever session or parent it moved to', async (how) => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const controller = new AbortController();
    const running = startIn(sandbox, ['/bin/sh', '-c', scatter(seconds)], { signal: controller.signal });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(3), waiting);
    if (how === 'kill') running.kill();
    else controller.abort();
    expect(await running.exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
  });

  test('kill ends every thread and child of a program with many threads', async (context) => {
    const { sandbox } = await open();
    const probe = `node -e "require('child_process').execFileSync(process.execPath, ['-e', ''])"`;
    // Skipped if the program is missing, or if memory is too small for two of them.
    if ((await shellIn(sandbox, probe)).code !== 0) return context.skip();
    const seconds = uniqueSeconds();
    const free = `require('child_process').spawn('sleep', ['${seconds}'], { detached: true, stdio: 'ignore' }).unref()`;
    const inner = `${free}; setInterval(() => {}, 1000)`;
    const outer = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}]); setInterval(() => {}, 1000)`;
    for (let round = 0; round < 5; round++) {
      const running = startIn(sandbox, ['node', '-e', outer]);
      await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1), waiting);
      running.kill();
      await running.exit;
      await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
    }
  });

  test('a traced program ends when its tracer ends, with its own exit code', async () => {
    const { sandbox, directory } = await open();
    compileText(directory, 'traced', tracedProgram, ['-static']);
    const traced = (...argv: string[]) => within(runIn(sandbox, ['./traced', ...argv]));
    expect(await traced('0', 'sh', '-c', 'echo started; exit 7')).toMatchObject({ stdout: 'started\n', code: 7 });
    expect(await traced('28', 'sh', '-c', 'exit 8')).toMatchObject({ code: 8, signal: null });
    expect(await traced('15', 'true')).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  test('a kill right after the start is not lost', async () => {
    const { sandbox } = await open();
    for (let round = 0; round < 20; round++) {
      const running = startIn(sandbox, ['sleep', uniqueSeconds()]);
      running.kill();
      const end = await within(running.exit);
      running.kill();
      expect(end).toMatchObject({ signal: 'SIGKILL' });
    }
  });

  test('a signal right after the start is not lost', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['sleep', uniqueSeconds()]);
    running.signal('SIGTERM');
    const end = await within(running.exit);
    running.kill();
    expect(end).toMatchObject({ signal: 'SIGTERM' });
  });

  test('a call with an aborted signal starts nothing', async () => {
    const { sandbox } = await open();
    await expect(async () => startIn(sandbox, ['true'], { signal: AbortSignal.abort() }).exit).rejects.toThrow();
  });

  test('a signal reaches the program and its group', async () => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const running = startIn(sandbox, ['/bin/sh', '-c', `trap "exit 9" TERM; sleep ${seconds} & wait`]);
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1), waiting);
    running.signal('SIGTERM');
    expect(await running.exit).toMatchObject({ code: 9 });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
  });

  test('a child left behind does not delay the end, and is not killed', async () => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const ended = await within(shellIn(sandbox, `sleep ${seconds} & echo done`));
    expect(ended).toMatchObject({ stdout: 'done\n', code: 0 });
    // It may be forked and not have its new name yet.
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1));
  });

  test('a child left behind that prints for ever does not delay the end', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['/bin/sh', '-c', 'yes & yes & yes & yes & exit 3']);
    running.stdout.resume();
    const end = await within(running.exit);
    running.kill();
    expect(end).toMatchObject({ code: 3 });
  });
}

export function describeClosing(open: () => Promise<OpenedSandbox>): void {
  test('close ends every program, and later starts fail', async () => {
    const { sandbox } = await open();
    const gone = { code: 'E_SANDBOX_UNAVAILABLE' };
    const { exit } = startIn(sandbox, ['sleep', uniqueSeconds()]);
    const rejected = expect(exit).rejects.toMatchObject(gone);
    await sandbox.close();
    await rejected;
    await sandbox.closed;
    await expect(async () => startIn(sandbox, ['true']).exit).rejects.toMatchObject(gone);
    await sandbox.close();
  });

  test('closing one sandbox leaves the other', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    await one.sandbox.close();
    expect((await runIn(other.sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('a command with arguments that cannot be encoded is refused, and leaves no state', async () => {
    const { sandbox } = await open();
    await expect(async () => startIn(sandbox, ['echo', 'a\0b']).exit).rejects.toThrow();
    await expect(async () => startIn(sandbox, ['echo', 'x'.repeat(2_000_000)]).exit).rejects.toThrow();
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });
}
