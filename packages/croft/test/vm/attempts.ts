import { constants, existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Sandbox } from '../../src/core/commands/sandbox.ts';
import { findGroups } from '../../src/lib/cgroup/find-groups.ts';

interface Attempted {
  readonly memory: Ended;
  /** Share of a processor that a busy program got; its limit is a half. */
  readonly processorShare: number;
  readonly processes: Ended;
}

/** Result of the attempts with one kind of control groups, or with none. Printed as one line. */
export interface AttemptReport extends Partial<Attempted> {
  readonly as: string;
  readonly groups: { readonly version: number } | { readonly reason: string };
  /** Its own control group, after asking for one. */
  readonly own: string;
  /** `cpu.weight` of that group. */
  readonly weight?: string | undefined;
}

interface Ended {
  readonly output: string;
  readonly rules: readonly string[];
}

const megabyte = 1024 * 1024;
const limits = {
  memoryBytes: 64 * megabyte,
  processes: 32,
  cpus: 0.5,
  fileBytes: 64 * megabyte,
  openFiles: 256,
  diskBytes: 64 * megabyte,
};
const size = 128 * megabyte;
const attempts = {
  memory: `head -c ${size} /dev/zero | tail -c ${size} | wc -c`,
  processes: 'for i in $(seq 1 100); do sleep 1000 & done; echo all of them',
  processor: 'timeout 2 sh -c "while :; do :; done"',
};

const [, , as = '', what = 'all'] = process.argv;
const groups = findGroups();
// Asked again, as several parts of a server do: the process must not move further down each time.
const again = findGroups();
const found = 'reason' in again ? { reason: again.reason } : { version: again.version };
const own = readFileSync('/proc/self/cgroup', 'utf8').trim();
const weight = readWeight(own.replace('0::', '/sys/fs/cgroup'));
const report: AttemptReport = { as, groups: found, own, weight, ...(what === 'all' ? await attemptAll() : {}) };
console.log(JSON.stringify(report));

function readWeight(group: string): string | undefined {
  const file = join(group, 'cpu.weight');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

async function attemptAll(): Promise<Attempted> {
  // Imported here, because loading takes seconds in the virtual machine.
  const { findInit } = await import('../../src/init/find-init.ts');
  const { toBwrapArguments } = await import('../../src/providers/bubblewrap/bwrap-arguments.ts');
  const { createBubblewrap } = await import('../../src/providers/bubblewrap/provider.ts');
  const parts = { findInit, toArguments: toBwrapArguments, groups };
  const provider = createBubblewrap({ path: process.env.PATH ?? '', home: homedir() }, parts);
  const directory = openSync(mkdtempSync(join(tmpdir(), 'croft-vm-')), constants.O_RDONLY | constants.O_DIRECTORY);
  const spec = {
    directoryFd: directory,
    workspacePath: '/workspace',
    network: { mode: 'deny-all' },
    readable: [],
  } as const;
  const sandbox = await provider.open({ ...spec, limits });
  const memory = await attempt(sandbox, attempts.memory);
  const processorShare = await measure(sandbox);
  // Last, because the processes it leaves keep others from starting.
  const processes = await attempt(sandbox, attempts.processes);
  await sandbox.close();
  return { memory, processorShare, processes };
}

async function run(within: Sandbox, script: string) {
  const running = within.start({ argv: ['/bin/sh', '-c', script], signal: new AbortController().signal });
  running.stderr.resume();
  const [output, { usage }] = await Promise.all([text(running.stdout), running.exit]);
  return { output, usage };
}

async function attempt(within: Sandbox, script: string): Promise<Ended> {
  const { output } = await run(within, script);
  return { output, rules: within.takeDenials().map(({ rule }) => rule) };
}

async function measure(within: Sandbox): Promise<number> {
  const startedAt = performance.now();
  const { usage } = await run(within, attempts.processor);
  return (usage.userMs + usage.systemMs) / (performance.now() - startedAt);
}
