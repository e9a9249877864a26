import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory in MB, as the kernel counts it for each process. */
export interface Resident {
  /** With every page it shares counted in full. */
  readonly rss: number;
  /** With every shared page divided among those who share it. */
  readonly pss: number;
}

const megabyte = 1024 ** 2;

/**
 * The processes a process has started, each with all below it. What it starts by another, one for all, are families of
 * their own; that other, of some hundred kilobytes, is in none.
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

/** Empty for what is not there, or no more. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
