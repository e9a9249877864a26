/** A file of the source or the target, with the facts by which files are compared. */
export interface ComparedFile {
  readonly path: string;
  readonly size: number;
}

export interface SyncStep {
  readonly kind: 'add' | 'change' | 'delete';
  readonly path: string;
  readonly size: number;
}

export interface FileSyncPlan {
  readonly steps: readonly SyncStep[];
  /** How many files are the same on both sides. */
  readonly same: number;
}

interface SyncSides<Source extends ComparedFile, Target extends ComparedFile> {
  readonly source: ReadonlyMap<string, Source>;
  readonly target: ReadonlyMap<string, Target>;
  /** Whether files that the source does not have are removed. */
  readonly deletes: boolean;
  /** Compares the contents of two files of the same size. */
  isSame(source: Source, target: Target): Promise<boolean>;
}

/** Works out the steps that make the target equal to the source. */
export async function planFileSync<Source extends ComparedFile, Target extends ComparedFile>(
  { source, target, deletes, isSame }: SyncSides<Source, Target>,
  onCompared: (count: number) => void,
): Promise<FileSyncPlan> {
  const steps: SyncStep[] = [];
  let [compared, same] = [0, 0];
  for (const file of source.values()) {
    const { path, size } = file;
    const other = target.get(path);
    if (other && other.size === size && (await isSame(file, other))) same += 1;
    else steps.push({ kind: other ? 'change' : 'add', path, size });
    onCompared(++compared);
  }
  const gone = deletes ? [...target.values()].filter(({ path }) => !source.has(path)) : [];
  return { steps: [...steps, ...gone.map(({ path, size }) => ({ kind: 'delete' as const, path, size }))], same };
}
