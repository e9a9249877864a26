import { describe } from 'vitest';
import { describeClosing, describeEnds } from './sandbox-ends.ts';
import { describePrograms } from './sandbox-programs.ts';
import type { OpenedSandbox } from './sandbox-run.ts';
import { describeStreams } from './sandbox-streams.ts';
import { describeSuspends } from './sandbox-suspends.ts';

export { listCommands, type OpenedSandbox, runIn, shellIn, startIn, uniqueSeconds, within } from './sandbox-run.ts';

/** The contract of every sandbox. `open` must close the sandbox after its test. */
export function describeSandbox(name: string, open: () => Promise<OpenedSandbox>): void {
  describe(`${name} sandbox`, () => {
    describePrograms(open);
    describeStreams(open);
    describeEnds(open);
    describeClosing(open);
    describeSuspends(open);
  });
}
