import { globSync, readlinkSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openSandbox, operator } from '../../../test/support/sandboxes/open-sandbox.ts';
import { findInit } from '../../init/find-init.ts';
import { findGroups, type Group, type Groups } from '../../lib/cgroup/find-groups.ts';
import { toBwrapArguments } from './bwrap-arguments.ts';
import { createBubblewrap } from './provider.ts';

const groups = findGroups();
const reason = 'reason' in groups ? groups.reason : undefined;
if (reason !== undefined) console.warn(`SKIPPED how sandboxes enter control groups: ${reason}`);

async function openWith(changed: Groups) {
  const fixture = makeDirectory();
  onTestFinished(() => fixture[Symbol.dispose]());
  const parts = { findInit, toArguments: toBwrapArguments, groups: changed };
  return await openSandbox(fixture.path, { provider: createBubblewrap(operator, parts) });
}

const changing = (change: (group: Group) => Group): Groups => {
  const { version, create } = groups as Groups;
  return { version, create: (name, limits) => change(create(name, limits)) };
};

const ways: [string, (group: Group) => Group][] = [
  ['by itself, if it can', (group) => group],
  ['moved by us, if it must be', ({ selfEntryFiles: _, ...group }) => group],
];

test.skipIf(reason).each(ways)(
  'the first process and all others of a sandbox enter its groups %s',
  async (_, change) => {
    const sandbox = await openWith(changing(change));
    const { stdout } = await shellIn(sandbox, 'cat /proc/1/cgroup; echo; cat /proc/self/cgroup');
    const [first = '', own] = stdout.trim().split('\n\n');
    expect(own).toBe(first);
    const named = first.split('\n').filter((line) => line.includes('/sandbox-'));
    const controllers = named.flatMap((line) => line.split(':')[1]?.split(',') ?? []);
    if ((groups as Groups).version === 1)
      expect(controllers).toEqual(expect.arrayContaining(['memory', 'pids', 'cpu']));
    else expect(named).toHaveLength(1);
  },
);

const refusals: [string, Partial<Group>][] = [
  ['cannot be moved there', { selfEntryFiles: [], add: () => Promise.reject(new Error('refused')) }],
  // Every write to this file fails, as when a group refuses a process.
  ['cannot enter', { selfEntryFiles: ['/dev/full'] }],
];

test.skipIf(reason).each(refusals)('a sandbox is refused if its first process %s', async (_, change) => {
  const opening = openWith(changing((group) => ({ ...group, ...change })));
  await expect(opening).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
});

/** The open files of every process that we may inspect. */
const openFiles = () =>
  globSync('/proc/[0-9]*/fd/*').flatMap((link) => {
    try {
      return [readlinkSync(link)];
    } catch {
      return [];
    }
  });

test.skipIf(reason)('no process keeps a file of the groups open once the sandbox is open', async () => {
  const { version, create } = groups as Groups;
  const names: string[] = [];
  const note: Groups['create'] = (name, limits) => {
    names.push(name);
    return create(name, limits);
  };
  const sandbox = await openWith({ version, create: note });
  expect((await shellIn(sandbox, 'true')).code).toBe(0);
  expect(names).toHaveLength(1);
  expect(openFiles().filter((file) => file.includes(names[0]!))).toEqual([]);
});
