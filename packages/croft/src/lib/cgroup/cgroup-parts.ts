import { type Parent, removeAll } from './cgroup-directory.ts';

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
  /**
   * Files by which a process enters by itself, by writing `0` to each. The kernel holds up every fork of the machine to
   * move another process, and takes milliseconds to begin, but lets one that has a single thread move itself at once.
   * None where the version of groups knows no such thing.
   */
  readonly doors?: readonly string[];
  add(pid: number): Promise<void>;
  usage(): GroupUsage;
  /** Of that, what was refused: asked for after every command. */
  refusals(): Pick<GroupUsage, 'memoryKills' | 'refusedForks'>;
  /** Resolves once the last process is gone and reaped. If that takes long it goes on alone, and `onStuck` is told. */
  remove(): Promise<void>;
}

export interface Groups {
  readonly version: 1 | 2;
  create(name: string, limits: GroupLimits): Group;
}

export interface GroupsOptions {
  /** Of the directory above all groups. `parentName` unless a test says otherwise. */
  readonly name: string;
  /** For all groups together, so that many small ones do not take the whole machine. */
  readonly total: { readonly memoryBytes: number; readonly processes: number };
  /** Told of directories that the kernel still holds long after everything in them was ended. */
  readonly onStuck?: ((directories: readonly string[]) => void) | undefined;
}

/** As the kernel has it, unless it is told another. */
export const periodUs = 100_000;

/** Makes the directories above a group as long as there is one. */
export function createWithin(
  parents: readonly Parent[],
  { onStuck }: GroupsOptions,
  create: (directories: readonly string[], limits: GroupLimits) => Omit<Group, 'remove'>,
): Groups['create'] {
  const ensureParents = () => parents.forEach((parent) => void parent.ensure());
  const removeParents = () => parents.forEach((parent) => void parent.remove());
  // So that whoever asks now learns what cannot be.
  ensureParents();
  removeParents();
  return (name, limits) => {
    const directories = parents.map(({ path }) => `${path}/${name}`);
    try {
      ensureParents();
      const group = create(directories, limits);
      return { ...group, remove: () => removeAll(directories, { onGone: removeParents, onStuck }) };
    } catch (thrown) {
      removeParents();
      throw thrown;
    }
  };
}
