import type { Precondition } from '../files.ts';
import type { Seen } from './look.ts';
import type { Manifest, SyncedFile } from './manifest.ts';
import type { Reason, SourceFile } from './source.ts';

export interface PlannedWrite {
  readonly file: SourceFile;
  readonly expect: Precondition;
}

/** What is to be done in one directory, and what is known of it before and after. */
export interface SyncPlan {
  readonly writes: readonly PlannedWrite[];
  /** Paths of files that the server has no longer. */
  readonly removals: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly Reason[];
  /** True of the files at every moment of the work, so that whoever comes after it was cut short can go on. */
  readonly before: Manifest;
  /** True of them when all is done. */
  readonly after: Manifest;
}

const edited = 'it was changed in the workspace';
const notOurs = 'there is another file of that name';

/** `seen` has every path of the source and of the manifest. */
export function planSync(source: readonly SourceFile[], manifest: Manifest, seen: ReadonlyMap<string, Seen>): SyncPlan {
  const decided = source.map((file) => decide(file, manifest.get(file.path), seen.get(file.path) ?? absent));
  const wanted = new Set(source.map(({ path }) => path));
  const gone = [...manifest].filter(([path]) => !wanted.has(path));
  const isOurs = ([path, { hashes }]: [string, SyncedFile]) => holds(seen.get(path), hashes);
  const kept = gone.filter((entry) => seen.get(entry[0])?.kind !== 'absent' && !isOurs(entry));
  const entries = (when: 'before' | 'after') =>
    decided.flatMap(({ file, [when]: entry }) => (entry ? [[file.path, entry] as const] : []));
  const removals = gone.filter(isOurs);
  return {
    writes: decided.flatMap(({ file, write }) => (write === undefined ? [] : [{ file, expect: write }])),
    removals: removals.map(([path]) => path),
    unchanged: decided.filter(({ write, conflict }) => write === undefined && conflict === undefined).length,
    conflicts: [
      ...decided.flatMap(({ file: { path }, conflict }) =>
        conflict === undefined ? [] : [{ path, reason: conflict }],
      ),
      ...kept.map(([path]) => ({ path, reason: `${edited}, and stays though the server has it no longer` })),
    ],
    before: new Map([...entries('before'), ...removals]),
    after: new Map(entries('after')),
  };
}

interface Decision {
  readonly file: SourceFile;
  readonly write?: Precondition;
  readonly conflict?: string;
  /** Left out: it is not the server's. */
  readonly before?: SyncedFile | undefined;
  readonly after?: SyncedFile | undefined;
}

const absent: Seen = { kind: 'absent' };

/** Only what is not there, or is as the server left it, is written. */
function decide(file: SourceFile, known: SyncedFile | undefined, seen: Seen): Decision {
  const { hash, isExecutable } = file;
  const after = { hashes: [hash], isExecutable };
  const older = (known?.hashes ?? []).filter((one) => one !== hash).slice(0, 3);
  const before = { hashes: [hash, ...older], isExecutable: known?.isExecutable ?? isExecutable };
  if (seen.kind === 'absent') return { file, write: 'absent', before, after };
  if (seen.kind === 'foreign') return { file, conflict: seen.reason, before: known, after: known };
  const expect = { version: seen.version };
  // A person's own file that happens to hold the same stays theirs.
  if (seen.hash === hash && !known) return { file };
  if (seen.hash === hash)
    return known?.isExecutable === isExecutable
      ? { file, before: after, after }
      : { file, write: expect, before, after };
  if (holds(seen, known?.hashes ?? [])) return { file, write: expect, before, after };
  return { file, conflict: known ? edited : notOurs, before: known, after: known };
}

function holds(seen: Seen | undefined, hashes: readonly string[]): boolean {
  return seen?.kind === 'file' && hashes.includes(seen.hash);
}
