import { AppError } from '@croft/protocol';
import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { FileVersion } from '../../files/files.ts';
import { createShownParts } from './shown-parts.ts';

/**
 * Records which version of each file a session has read, so that the session cannot change a file that it has not read.
 */
export interface ReadTracker {
  /** Records a read. `lines` are those shown with their numbers. Left out: none. */
  saw(workspace: string, file: FileVersion, lines?: ShownLines): void;
  /** Records that part of a file was shown, by the hash of its bytes. */
  sawPart(workspace: string, path: string, hash: string): void;
  /** Whether this version of the file was read. */
  hasSeen(workspace: string, file: FileVersion): boolean;
  /** Whether a part with these bytes was shown; without a hash, whether any part of the file was. */
  hasSeenPart(workspace: string, path: string, hash?: string): boolean;
  forget(workspace: string, path: string): void;
  /** Throws `E_NOT_READ` or `E_STALE`. `action` and `written` are for the message: "refusing to edit a.ts". */
  mustHaveSeen(workspace: string, file: FileVersion, action: string, written: string): void;
  /**
   * Throws `E_NOT_READ` for lines that were not shown since the file last changed: their numbers may be different now.
   */
  mustHaveShown(workspace: string, file: FileVersion, lines: ShownLines, written: string): void;
  /** All files that were read, the newest last, for a server that continues the session. */
  readonly seen: Iterable<SeenFile>;
  /** Increases with every change. */
  readonly revision: number;
}

/** Line numbers from 1, both included. */
interface ShownLines {
  readonly first: number;
  readonly last: number;
}

/** Workspace, path and version. */
type SeenFile = readonly [workspace: string, path: string, version: string];

const maxFiles = 20_000;
/** Most separate parts per file. */
const maxParts = 100;

export function createReadTracker(known: Iterable<SeenFile> = []): ReadTracker {
  /** Shown lines are not stored for another server: there the lines must be read again. */
  const shown = new Map<string, readonly ShownLines[]>();
  const versions = new BoundedMap<string, string>(maxFiles, (_, key) => shown.delete(key));
  const keyOf = (workspace: string, path: string) => `${workspace}\0${path}`;
  /** Hashes of parts that were shown. Not stored for another server either. */
  const parts = createShownParts();
  let revision = 0;
  for (const [workspace, path, version] of known) versions.set(keyOf(workspace, path), version);

  return {
    get revision() {
      return revision;
    },
    get seen() {
      return Array.from(versions, ([key, version]): SeenFile => {
        const end = key.indexOf('\0');
        return [key.slice(0, end), key.slice(end + 1), version];
      });
    },
    saw(workspace, file, lines) {
      const key = keyOf(workspace, file.path);
      if (versions.get(key) !== file.version) {
        revision += 1;
        shown.delete(key);
      }
      versions.set(key, file.version);
      if (lines) shown.set(key, addLines(shown.get(key) ?? [], lines));
    },
    sawPart: (workspace, path, hash) => parts.add(keyOf(workspace, path), hash),
    hasSeen: (workspace, file) => versions.get(keyOf(workspace, file.path)) === file.version,
    hasSeenPart: (workspace, path, hash) => parts.has(keyOf(workspace, path), hash),
    forget(workspace, path) {
      const key = keyOf(workspace, path);
      if (versions.has(key)) revision += 1;
      versions.delete(key);
      shown.delete(key);
      parts.delete(key);
    },
    mustHaveShown(workspace, { path }, { first, last }, written) {
      const ranges = shown.get(keyOf(workspace, path)) ?? [];
      if (ranges.some((part) => part.first <= first && last <= part.last)) return;
      const lines = first === last ? `line ${first}` : `lines ${first}-${last}`;
      throw new AppError(
        'E_NOT_READ',
        `refusing to replace ${lines} of ${written} by number: they were not read since the file last changed, and may have ` +
          'other text now; Read them first, or pass their text as old_string',
        { details: { path: written, first, last } },
      );
    },
    mustHaveSeen(workspace, file, action, written) {
      const seen = versions.get(keyOf(workspace, file.path));
      if (seen === file.version) return;
      const details = { path: written };
      if (seen === undefined) {
        throw new AppError('E_NOT_READ', `refusing to ${action} ${written}: Read it first`, { details });
      }
      throw new AppError('E_STALE', `refusing to ${action} ${written}: it changed since it was last read`, { details });
    },
  };
}

/** Returns a tracker for a single call by a person, who has no earlier call to have read in. */
export function createTrustingTracker(): ReadTracker {
  return {
    ...{ saw() {}, sawPart() {}, forget() {}, mustHaveSeen() {}, mustHaveShown() {} },
    ...{ hasSeen: () => true, hasSeenPart: () => true, seen: [], revision: 0 },
  };
}

/** Joins adjacent parts: lines that were read page by page were read. */
function addLines(parts: readonly ShownLines[], { first, last }: ShownLines): readonly ShownLines[] {
  const touches = (part: ShownLines) => part.first <= last + 1 && first <= part.last + 1;
  const joined = [...parts.filter(touches), { first, last }];
  return [
    ...parts.filter((part) => !touches(part)).slice(-maxParts),
    { first: Math.min(...joined.map((part) => part.first)), last: Math.max(...joined.map((part) => part.last)) },
  ];
}
