import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStalls } from './read-stalls.ts';

/**
 * The longest stall allowed to a server of the suite. The goal is 50 ms, which `stalls.test.ts` checks under attack.
 * Here three test files share two cores of a virtual machine, whose host adds its own pauses: 276 ms were seen where a
 * quiet machine shows none. This limit finds stalls of seconds.
 */
const maxMs = 1000;

/** Makes a server report its stalls. Throws at the end if its own work kept it from answering for too long. */
export function watchForStalls() {
  const directory = mkdtempSync(join(tmpdir(), 'croft-test-events-'));
  const file = join(directory, 'events.jsonl');
  return {
    args: ['--events', file],
    [Symbol.dispose]() {
      const stalls = existsSync(file) ? readStalls(file) : [];
      rmSync(directory, { recursive: true, force: true });
      const worst = Math.max(0, ...stalls.map(({ processorMs }) => processorMs));
      if (worst > maxMs) throw new Error(`the main thread of the server worked for ${worst} ms without a pause`);
    },
  };
}
