import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { killProcess } from '../spawn.ts';
import { openFiles } from './open-files.ts';

export interface ProcessUsage {
  readonly processes: number;
  /** What only these processes hold, files in `/tmp` not included. */
  readonly memoryBytes: number;
}

/** The kernel's name of the namespace a process counts in, unless it is gone or not ours to see. */
export function namespaceOf(pid: number): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Children of a process, or nothing where the kernel does not list them. */
export function childrenOf(pid: number): number[] | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  return text?.split(' ').filter(Boolean).map(Number);
}

/** All there are, by namespace. */
export function findProcesses(): Map<string | undefined, number[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return Map.groupBy(pids.map(Number), namespaceOf);
}

export function processesIn(namespace: string): number[] {
  return findProcesses().get(namespace) ?? [];
}

/**
 * Ends every process of a namespace but its first. One that has been sent the signal cannot fork any more, so all
 * are caught once nobody new turns up. Each is looked at again right before: its number could be another's by now.
 */
export function endProcesses(namespace: string, first: number): void {
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
 * What processes use together. The sum of what each has counts shared pages once for every process that has
 * them, so only where that is over `memoryBytes` does the kernel divide it up, which costs more.
 */
export function usageOf(pids: readonly number[], memoryBytes: number): ProcessUsage {
  const hiddenBytes = sum(pids, memoryFileBytes);
  const atMost = hiddenBytes + sum(pids, (pid) => fieldBytes(pid, 'status', ['RssAnon', 'RssShmem', 'VmSwap']) ?? 0);
  return { processes: pids.length, memoryBytes: atMost > memoryBytes ? exactBytes(pids, hiddenBytes) : atMost };
}

function exactBytes(pids: readonly number[], hiddenBytes: number): number {
  const own = sum(pids, (pid) => rollup(pid, ['Pss_Anon', 'SwapPss']) ?? fieldBytes(pid, 'status', ['RssAnon']) ?? 0);
  // A file in memory that is also mapped must not count twice.
  const mapped = sum(pids, (pid) => rollup(pid, ['Pss_Shmem']) ?? 0);
  return own + Math.max(hiddenBytes, mapped);
}

const rollup = (pid: number, fields: readonly string[]) => fieldBytes(pid, 'smaps_rollup', fields);

function fieldBytes(pid: number, file: string, fields: readonly string[]): number | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/${file}`, 'utf8'));
  if (!text) return undefined;
  return sum(fields, (field) => 1024 * Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0));
}

/** Files without a name that exist in memory alone (`memfd_create`), mapped or not. */
function memoryFileBytes(pid: number): number {
  const seen = new Set<number>();
  return sum([...openFiles(pid)], ({ path, stats }) => {
    if (stats.nlink > 0 || seen.has(stats.ino) || !attempt(() => readlinkSync(path))?.startsWith('/memfd:')) return 0;
    seen.add(stats.ino);
    return stats.blocks * 512;
  });
}

function sum<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((total, item) => total + measure(item), 0);
}

/** Processes come and go while they are looked at. */
function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
