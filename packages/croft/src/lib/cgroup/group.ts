import { type GroupParent, removeGroupDirectories } from './group-directory.ts';

export interface GroupLimits {
  readonly memoryBytes: number;
  readonly processes: number;
  /** Number of processor cores; fractions are allowed. */
  readonly cpus: number;
}

export interface GroupUsage {
  readonly memoryBytes: number;
  readonly processes: number;
  /** How often the kernel killed a process or refused a fork at a limit, since the group was made. */
  readonly memoryKills: number;
  readonly refusedForks: number;
}

/** A control group: processes that share limits. */
export interface Group {
  /**
   * Files to which a single-threaded process writes `0` to enter the group by itself. The kernel does that at once.
   * Moving another process instead takes milliseconds to begin and blocks every fork of the machine. `undefined` where
   * the cgroup version has no such files.
   */
  readonly selfEntryFiles?: readonly string[];
  add(pid: number): Promise<void>;
  /** Process ids in the group; empty after the group was removed. */
  processIds(): readonly number[];
  usage(): GroupUsage;
  /** Processor time used in the group so far. Left out if the kernel does not count it for groups. */
  readonly processorMs?: (() => number) | undefined;
  /** If `isLast`, the processes of the group run only when the groups beside it leave a processor free. */
  giveWay(isLast: boolean): void;
  /** The refusals among the usage, which are read after every command. */
  refusals(): Pick<GroupUsage, 'memoryKills' | 'refusedForks'>;
  /**
   * Resolves once the last process is gone and reaped. If that takes long, `onStuck` is called and the removal goes on
   * in the background.
   */
  remove(): Promise<void>;
}

export interface Groups {
  readonly version: 1 | 2;
  create(name: string, limits: GroupLimits): Group;
}

export interface GroupsOptions {
  /** Name of the directory above all groups: `groupParentName`, unless a test overrides it. */
  readonly name: string;
  /** Limits for all groups together, so that many small groups cannot take the whole machine. */
  readonly total: { readonly memoryBytes: number; readonly processes: number };
  /** Called with directories that the kernel still keeps long after everything in them was killed. */
  readonly onStuck?: ((directories: readonly string[]) => void) | undefined;
}

/** The default period of the kernel for processor limits. */
export const periodUs = 100_000;

/** Creates groups in `parents`. The parent directories exist only while there is a group in them. */
export function createGroupFactory(
  parents: readonly GroupParent[],
  { onStuck }: GroupsOptions,
  create: (directories: readonly string[], limits: GroupLimits) => Omit<Group, 'remove'>,
): Groups['create'] {
  const ensureParents = () => parents.forEach((parent) => void parent.ensure());
  const removeParents = () => parents.forEach((parent) => void parent.remove());
  // Makes and removes the parents once, so that missing permissions are found now.
  ensureParents();
  removeParents();
  return (name, limits) => {
    const directories = parents.map(({ path }) => `${path}/${name}`);
    try {
      ensureParents();
      const group = create(directories, limits);
      return { ...group, remove: () => removeGroupDirectories(directories, { onGone: removeParents, onStuck }) };
    } catch (thrown) {
      removeParents();
      throw thrown;
    }
  };
}
