import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory in MB, as the kernel counts it for each process. */
export interface Resident {
  /** Resident set size: each shared page counts in full. */
  readonly rss: number;
  /** Proportional set size: each shared page is divided among its users. */
  readonly pss: number;
}

const megabyte = 1024 ** 2;
/** The unit of times in /proc, on every Linux. */
const ticksPerSecond = 100;

/**
 * Returns the processes that a process has started, each with all processes below it. A child of the spawner counts as
 * if the process had started it; the spawner itself is left out.
 */
export function familiesOf(pid: number): number[][] {
  const parents = new Map(listProcesses().map((child) => [child, parentOf(child)]));
  const childrenOf = (parent: number) => [...parents.keys()].filter((child) => parents.get(child) === parent);
  const below = (top: number): number[] => [top, ...childrenOf(top).flatMap(below)];
  const tops = childrenOf(pid).flatMap((child) => (isSpawner(child) ? childrenOf(child) : [child]));
  return tops.map(below);
}

export function residentOf(pids: readonly number[]): Resident {
  const sum = (field: string) => pids.reduce((total, pid) => total + kilobytes(pid, field), 0) / 1024;
  return { rss: sum('Rss'), pss: sum('Pss') };
}

/**
 * Memory that the kernel charges to the control group of a process, in MB, with its own structures. Not readable
 * everywhere.
 */
export function chargedTo(pid: number): number | undefined {
  const groups = read(`/proc/${pid}/cgroup`);
  const [, first] = /^\d+:memory:(.*)$/m.exec(groups) ?? [];
  const [, second] = /^0::(.*)$/m.exec(groups) ?? [];
  const bytes =
    first === undefined
      ? read(`/sys/fs/cgroup${second}/memory.current`)
      : read(`/sys/fs/cgroup/memory${first}/memory.usage_in_bytes`);
  return bytes === '' ? undefined : Number(bytes) / megabyte;
}

/** How long the first thread of a process was on a processor until now, in ms. */
export function mainThreadMs(pid: number): number {
  return Number(read(`/proc/${pid}/task/${pid}/schedstat`).split(' ')[0]) / 1e6;
}

/** How long all threads of a process were on a processor until now. */
export function processorSecondsOf(pid: number): number {
  const [user = 0, system = 0] = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) / ticksPerSecond;
}

export function handlesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function isSpawner(pid: number): boolean {
  return read(`/proc/${pid}/cmdline`).split('\0')[1] === '--spawn';
}

function listProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function parentOf(pid: number): number {
  return Number(/\) \S (\d+) /.exec(read(`/proc/${pid}/stat`))?.[1]);
}

function kilobytes(pid: number, field: string): number {
  return Number(new RegExp(`^${field}: +(\\d+)`, 'm').exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

/** Reads a file; empty if it does not exist or no longer exists. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
