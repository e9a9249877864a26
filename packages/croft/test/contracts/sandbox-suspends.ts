import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type OpenedSandbox, shellIn, startIn, waiting } from './sandbox-run.ts';

/** Five ticks of the program. */
const whileMs = 100;

/** A provider that cannot stop programs has no `suspend`. */
export function describeSuspends(open: () => Promise<OpenedSandbox>): void {
  test('suspend stops its programs where they are, until they are let continue', async (context) => {
    const { sandbox, directory } = await open();
    if (!sandbox.suspend) return context.skip();
    const ticks = () => statSync(join(directory, 'ticks')).size;
    const running = startIn(sandbox, ['/bin/sh', '-c', 'while :; do echo >> ticks; sleep 0.02; done']);
    await vi.waitFor(() => expect(ticks()).toBeGreaterThan(2), waiting);
    const resume = sandbox.suspend();
    const countDuring = async () => {
      const before = ticks();
      await pause(whileMs);
      return ticks() - before;
    };
    await vi.waitFor(async () => expect(await countDuring()).toBe(0));
    const stopped = ticks();
    resume();
    await vi.waitFor(() => expect(ticks()).toBeGreaterThan(stopped + 2), waiting);
    running.kill();
    await running.exit;
    expect(await shellIn(sandbox, 'rm ticks; echo on')).toMatchObject({ stdout: 'on\n', code: 0 });
  });
}
