import type { Precondition } from '../files/files.ts';
import type { PathState } from './inspect-path.ts';
import type { PathReason, SkillSourceFile } from './skills-source.ts';
import type { SyncedFile, SyncManifest } from './sync-manifest.ts';

export interface PlannedWrite {
  readonly file: SkillSourceFile;
  readonly expect: Precondition;
}

/** The work in one directory, and its manifest before and after. */
export interface SyncPlan {
  readonly writes: readonly PlannedWrite[];
  /** Paths of files that the server no longer has. */
  readonly removals: readonly string[];
  readonly unchanged: number;
  readonly conflicts: readonly PathReason[];
  /** Manifest that is true at every moment of the work, so that the next sync can continue one that was cut short. */
  readonly before: SyncManifest;
  /** Manifest that is true when all is done. */
  readonly after: SyncManifest;
}

const edited = 'it was changed in the workspace';
const notOurs = 'there is another file of that name';

/** Plans a sync. `seen` has every path of the source and of the manifest. */
export function planSync(
  source: readonly SkillSourceFile[],
  manifest: SyncManifest,
  seen: ReadonlyMap<string, PathState>,
): SyncPlan {
  const decided = source.map((file) => decide(file, manifest.get(file.path), seen.get(file.path) ?? absent));
  const wanted = new Set(source.map(({ path }) => path));
  const gone = [...manifest].filter(([path]) => !wanted.has(path));
  const isOurs = ([path, { hashes }]: [string, SyncedFile]) => hasOneOf(seen.get(path), hashes);
  const changedHere = gone.filter((entry) => seen.get(entry[0])?.kind !== 'absent' && !isOurs(entry));
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
      ...changedHere.map(([path]) => ({ path, reason: `${edited}, and stays although the server no longer has it` })),
    ],
    before: new Map([...entries('before'), ...removals]),
    after: new Map(entries('after')),
  };
}

interface Decision {
  readonly file: SkillSourceFile;
  readonly write?: Precondition;
  readonly conflict?: string;
  /** Left out: the file is not the server's. */
  readonly before?: SyncedFile | undefined;
  readonly after?: SyncedFile | undefined;
}

const absent: PathState = { kind: 'absent' };

/** Writes only files that are absent, or are as the server left them. */
function decide(file: SkillSourceFile, known: SyncedFile | undefined, seen: PathState): Decision {
  const { hash, isExecutable } = file;
  const after = { hashes: [hash], isExecutable };
  const older = (known?.hashes ?? []).filter((one) => one !== hash).slice(0, 3);
  const before = { hashes: [hash, ...older], isExecutable: known?.isExecutable ?? isExecutable };
  if (seen.kind === 'absent') return { file, write: 'absent', before, after };
  if (seen.kind === 'foreign') return { file, conflict: seen.reason, before: known, after: known };
  const expect = { version: seen.version };
  // A person's own file with the same content stays the person's.
  if (seen.hash === hash && !known) return { file };
  if (seen.hash === hash)
    return known?.isExecutable === isExecutable
      ? { file, before: after, after }
      : { file, write: expect, before, after };
  if (hasOneOf(seen, known?.hashes ?? [])) return { file, write: expect, before, after };
  return { file, conflict: known ? edited : notOurs, before: known, after: known };
}

function hasOneOf(seen: PathState | undefined, hashes: readonly string[]): boolean {
  return seen?.kind === 'file' && hashes.includes(seen.hash);
}
