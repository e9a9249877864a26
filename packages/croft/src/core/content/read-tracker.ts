import { AppError } from '@croft/protocol';
import type { FileVersion } from '../files.ts';

/** Which version of which file a session has seen, so that it cannot change what it has not. */
export interface ReadTracker {
  saw(workspace: string, file: FileVersion): void;
  forget(workspace: string, path: string): void;
  /** Throws `E_NOT_READ` or `E_STALE`. `action` and `written` are for the message: "refusing to edit a.ts". */
  mustHaveSeen(workspace: string, file: FileVersion, action: string, written: string): void;
  /** What it knows, the newest last, for a server that goes on with the session. */
  readonly seen: Iterable<SeenFile>;
  /** Counts up with every change. */
  readonly revision: number;
}

/** Workspace, path and version. */
export type SeenFile = readonly [workspace: string, path: string, version: string];

const maxFiles = 20_000;

export function createReadTracker(known: Iterable<SeenFile> = []): ReadTracker {
  // In order of use, so that the first key is the one to drop.
  const versions = new Map<string, string>();
  const keyOf = (workspace: string, path: string) => `${workspace}\0${path}`;
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
    saw(workspace, file) {
      const key = keyOf(workspace, file.path);
      if (versions.get(key) !== file.version) revision += 1;
      versions.delete(key);
      versions.set(key, file.version);
      if (versions.size > maxFiles) for (const oldest of versions.keys()) return void versions.delete(oldest);
    },
    forget(workspace, path) {
      if (versions.delete(keyOf(workspace, path))) revision += 1;
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

/** For one call by a person, who has no earlier call to have read in. */
export function createTrustingTracker(): ReadTracker {
  return { saw() {}, forget() {}, mustHaveSeen() {}, seen: [], revision: 0 };
}
