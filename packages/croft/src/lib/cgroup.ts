import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface GroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  /** In cores. */
  readonly cpus: number;
}

export interface GroupUsage {
  readonly memoryBytes: number;
  readonly processes: number;
  /** How often a limit was hit since the group was made. */
  readonly memoryKills: number;
  readonly refusedForks: number;
}

/** Processes that share limits. */
export interface Group {
  add(pid: number): void;
  usage(): GroupUsage;
  /** Succeeds once the last process is gone and reaped. */
  remove(): Promise<void>;
}

export interface Groups {
  readonly version: 1 | 2;
  create(name: string, limits: GroupLimits): Group;
}

const periodUs = 100_000;

/** The control groups this process may make below its own, or why it may not. */
export function findGroups(): Groups | { reason: string } {
  try {
    const own = readFileSync('/proc/self/cgroup', 'utf8');
    return findVersion1(own) ?? findVersion2(own) ?? { reason: 'no memory and pids controllers are delegated here' };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function findVersion1(own: string): Groups | undefined {
  const controllers = ['memory', 'pids', 'cpu'] as const;
  const bases = controllers.map((controller) => locateVersion1(own, controller));
  const [memory, pids, cpu] = bases;
  if (memory === undefined || pids === undefined || cpu === undefined) return undefined;
  const parents = [memory, pids, cpu].map((base) => makeParent(base));
  return { version: 1, create: (name, limits) => createVersion1(parents, name, limits) };
}

/** The directory of our own group for a controller, if it can have groups below. */
function locateVersion1(own: string, controller: string): string | undefined {
  const line = own.split('\n').find((row) => row.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':');
  const mount = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((row) => / - cgroup /.test(row) && (row.split(' ').at(-1)?.split(',').includes(controller) ?? false));
  if (path === undefined || mount === undefined) return undefined;
  const [, , , root = '/', point = ''] = mount.split(' ');
  return join(point, root === '/' ? path : path.replace(root, ''));
}

function createVersion1(parents: readonly string[], name: string, limits: GroupLimits): Group {
  const directories = parents.map((parent) => join(parent, name));
  const [memory = '', pids = '', cpu = ''] = directories;
  makeWith(directories, () => {
    put(memory, 'memory.limit_in_bytes', limits.memoryBytes);
    // Swap counts too, where the kernel counts it.
    tryPut(memory, 'memory.memsw.limit_in_bytes', limits.memoryBytes);
    put(pids, 'pids.max', limits.processes);
    put(cpu, 'cpu.cfs_period_us', periodUs);
    put(cpu, 'cpu.cfs_quota_us', Math.round(limits.cpus * periodUs));
  });
  return {
    add: (pid) => {
      for (const directory of directories) put(directory, 'cgroup.procs', pid);
    },
    usage: () => ({
      memoryBytes: Number(get(memory, 'memory.usage_in_bytes')),
      processes: Number(get(pids, 'pids.current')),
      memoryKills: counter(get(memory, 'memory.oom_control'), 'oom_kill'),
      refusedForks: counter(get(pids, 'pids.events'), 'max'),
    }),
    remove: () => removeAll(directories),
  };
}

function findVersion2(own: string): Groups | undefined {
  const path = /^0::(.*)$/m.exec(own)?.[1];
  const mount = / (\/\S*) \S+ (?:\S+ )*?- cgroup2 /.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
  if (path === undefined || mount === undefined) return undefined;
  const base = join(mount, path);
  const offered = get(base, 'cgroup.controllers').split(/\s+/);
  if (!['memory', 'pids', 'cpu'].every((controller) => offered.includes(controller))) return undefined;
  delegate(base);
  const parent = makeParent(base);
  put(parent, 'cgroup.subtree_control', '+memory +pids +cpu');
  return { version: 2, create: (name, limits) => createVersion2(join(parent, name), limits) };
}

/** A group with processes of its own cannot hand controllers on: ours moves down first. */
function delegate(base: string): void {
  try {
    put(base, 'cgroup.subtree_control', '+memory +pids +cpu');
  } catch {
    const leaf = join(base, 'croft-server');
    mkdirSync(leaf, { recursive: true });
    put(leaf, 'cgroup.procs', process.pid);
    put(base, 'cgroup.subtree_control', '+memory +pids +cpu');
  }
}

function createVersion2(directory: string, limits: GroupLimits): Group {
  makeWith([directory], () => {
    put(directory, 'memory.max', limits.memoryBytes);
    tryPut(directory, 'memory.swap.max', 0);
    put(directory, 'pids.max', limits.processes);
    put(directory, 'cpu.max', `${Math.round(limits.cpus * periodUs)} ${periodUs}`);
  });
  return {
    add: (pid) => put(directory, 'cgroup.procs', pid),
    usage: () => ({
      memoryBytes: Number(get(directory, 'memory.current')),
      processes: Number(get(directory, 'pids.current')),
      memoryKills: counter(get(directory, 'memory.events'), 'oom_kill'),
      refusedForks: counter(get(directory, 'pids.events'), 'max'),
    }),
    remove: () => removeAll([directory]),
  };
}

/** A group without its limits must not stay: somebody could be put in it. */
function makeWith(directories: readonly string[], setLimits: () => void): void {
  try {
    for (const directory of directories) mkdirSync(directory);
    setLimits();
  } catch (thrown) {
    directories.forEach(tryRemove);
    throw thrown;
  }
}

/** One directory a server, with those of servers that are gone cleared away. */
function makeParent(base: string): string {
  for (const name of readdirSync(base)) {
    const pid = /^croft-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) clear(join(base, name));
  }
  const parent = join(base, `croft-${process.pid}`);
  mkdirSync(parent, { recursive: true });
  return parent;
}

function clear(directory: string): void {
  try {
    for (const { name } of readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
      rmdirSync(join(directory, name));
    }
    rmdirSync(directory);
  } catch {
    // Something still runs in it; whoever starts next tries again.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM';
  }
}

/** The kernel says busy until every process is reaped, which is not ours to do. */
async function removeAll(directories: readonly string[]): Promise<void> {
  for (let waitMs = 1; waitMs < 3000; waitMs *= 2) {
    if (directories.every(tryRemove)) return;
    await delay(waitMs, undefined, { ref: false });
  }
}

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
  }
}

function put(directory: string, file: string, value: string | number): void {
  writeFileSync(join(directory, file), String(value));
}

function tryPut(directory: string, file: string, value: string | number): void {
  try {
    put(directory, file, value);
  } catch {
    // Not every kernel has it.
  }
}

function get(directory: string, file: string): string {
  return readFileSync(join(directory, file), 'utf8').trim();
}

function counter(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
