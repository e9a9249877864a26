import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { killProcess } from '../../lib/processes/spawn.ts';
import { tryOrUndefined } from '../../lib/try-or-undefined.ts';
import { listOpenFiles } from './list-open-files.ts';

export interface ProcessUsage {
  readonly processes: number;
  /** Memory that only these processes use, without files in `/tmp`. */
  readonly memoryBytes: number;
}

/**
 * Returns the kernel's name for the PID namespace of a process, or `undefined` if the process is gone or not visible.
 */
export function namespaceOf(pid: number): string | undefined {
  return tryOrUndefined(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Returns the children of a process, or `undefined` if the kernel does not list them. */
export function childrenOf(pid: number): number[] | undefined {
  const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  return text?.split(' ').filter(Boolean).map(Number);
}

/** Returns all processes by PID namespace. */
export function findProcesses(): Map<string | undefined, number[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return Map.groupBy(pids.map(Number), namespaceOf);
}

export function processesIn(namespace: string): number[] {
  return findProcesses().get(namespace) ?? [];
}

/**
 * Kills every process of a PID namespace but its first. A process that was sent SIGKILL cannot fork any more, so all
 * are caught once no new one turns up. The namespace of each is checked right before the signal, because its number
 * could belong to another process by then.
 */
export function killProcesses(namespace: string, first: number): void {
  const seen = new Set([first]);
  for (let round = 0; round < 64; round++) {
    const fresh = processesIn(namespace).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      seen.add(pid);
      if (namespaceOf(pid) === namespace) killProcess(pid);
    }
  }
}

/**
 * Returns the memory and number of processes. The sum over processes counts shared pages once for each. Only if that
 * sum exceeds `memoryBytes` is the exact share read from the kernel, which costs more.
 */
export function usageOf(pids: readonly number[], memoryBytes: number): ProcessUsage {
  const hiddenBytes = sum(pids, memoryFileBytes);
  const atMost = hiddenBytes + sum(pids, (pid) => fieldBytes(pid, 'status', ['RssAnon', 'RssShmem', 'VmSwap']) ?? 0);
  return { processes: pids.length, memoryBytes: atMost > memoryBytes ? exactBytes(pids, hiddenBytes) : atMost };
}

export interface ProcessorUse {
  readonly processes: number;
  readonly processorMs: number;
}

/** The kernel counts processor time in hundredths of a second for user space. */
const tickMs = 10;

/** Processor time of the processes and of those that they have waited for. */
export function processorUseOf(pids: readonly number[]): ProcessorUse {
  const times = sum(pids, (pid) => {
    const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
    // The name of the program is in brackets, and may have spaces and brackets itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return sum(fields.slice(11, 15), (field) => Number(field) || 0);
  });
  return { processes: pids.length, processorMs: times * tickMs };
}

function exactBytes(pids: readonly number[], hiddenBytes: number): number {
  const own = sum(pids, (pid) => rollup(pid, ['Pss_Anon', 'SwapPss']) ?? fieldBytes(pid, 'status', ['RssAnon']) ?? 0);
  // A memory file that is also mapped must not count twice.
  const mapped = sum(pids, (pid) => rollup(pid, ['Pss_Shmem']) ?? 0);
  return own + Math.max(hiddenBytes, mapped);
}

const rollup = (pid: number, fields: readonly string[]) => fieldBytes(pid, 'smaps_rollup', fields);

function fieldBytes(pid: number, file: string, fields: readonly string[]): number | undefined {
  const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
  if (!text) return undefined;
  return sum(fields, (field) => 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0));
}

/** Bytes in memory files (`memfd_create`), mapped or not. */
function memoryFileBytes(pid: number): number {
  const seen = new Set<number>();
  return sum([...listOpenFiles(pid)], ({ path, stats }) => {
    if (stats.nlink > 0 || seen.has(stats.ino) || !tryOrUndefined(() => readlinkSync(path))?.startsWith('/memfd:'))
      return 0;
    seen.add(stats.ino);
    return stats.blocks * 512;
  });
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((total, item) => total + measure(item), 0);
}
