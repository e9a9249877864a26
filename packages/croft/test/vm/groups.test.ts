import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import type { AttemptReport } from './attempts.ts';
import { type As, boot } from './machine.ts';

const isPossible = await hasToolchains('another kernel');
/** Every sandbox costs seconds there, so one stands for all. What holds without groups is tried on any machine. */
const jobs: readonly (readonly [As, 'all' | 'groups'])[] = [
  ['root', 'groups'],
  ['delegated', 'all'],
  ['beside', 'groups'],
  ['crowded', 'groups'],
  ['contained', 'groups'],
  ['plain', 'groups'],
];
/** A machine under load has other things to do, and it takes many times as long there as here. */
const bootedMs = 300_000;
const reports = new Map<string, AttemptReport>();

/** Here control groups may be version 1, or out of reach. There they are version 2, and given in every way there is. */
describe.skipIf(!isPossible)('control groups version 2, in a virtual machine', () => {
  let output = '';
  let isUp = false;
  beforeAll(async () => {
    const program = `${import.meta.dirname}/attempts.ts`;
    const toJob = ([as, what]: (typeof jobs)[number]) => ({ as, argv: ['node', program, as, what] });
    const onOutput = (text: string) => {
      output += text;
    };
    ({ isUp } = await boot({ jobs: jobs.map(toJob), withinMs: bootedMs, onOutput }));
    if (!isUp) console.warn(`SKIPPED, because no other kernel can be started here: ${output.slice(-2000)}`);
    for (const line of output.split('\n').filter((row) => row.startsWith('{'))) {
      const one: AttemptReport = JSON.parse(line);
      reports.set(one.as, one);
    }
  }, 2 * bootedMs);
  beforeEach((context) => context.skip(!isUp));

  test('delegated: limits of memory, processes and processor time hold, and are reported', () => {
    expect(reports.get('delegated'), output).toMatchObject({
      groups: { version: 2 },
      own: '0::/given-delegated/croft-server',
      memory: { output: '0\n', rules: ['memory'] },
      processes: { output: '', rules: ['processes'] },
    });
    expect(reports.get('delegated')?.processorShare).toBeLessThan(0.75);
  });

  test.each([
    ['root', '0::/'],
    ['beside', '0::/given-beside/croft-server'],
    ['contained', '0::/given-contained/croft-server'],
  ])('of %s: they are found, each time, and the report names their source', (as, own) => {
    expect(reports.get(as), output).toMatchObject({ groups: { version: 2 }, own });
  });

  test.each(['delegated', 'beside'])('of %s: the server has ten times the weight of its sandboxes', (as) => {
    expect(reports.get(as), output).toMatchObject({ weight: '1000' });
  });

  test('of a user without delegation: the reason is reported', () => {
    expect(reports.get('plain'), output).toMatchObject({ groups: { reason: expect.stringContaining('EACCES') } });
  });

  test('of a user who shares a delegated group: the reason is reported', () => {
    expect(reports.get('crowded'), output).toMatchObject({
      groups: { reason: expect.stringContaining('other processes') },
    });
  });
});
