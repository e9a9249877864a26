import { AppError } from '@croft/protocol';
import type { FileVersion } from '../files.ts';

/** Which version of which file a session has seen, so that it cannot change what it has not. */
export interface ReadTracker {
  saw(workspace: string, file: FileVersion): void;
  forget(workspace: string, path: string): void;
  /** Throws `E_NOT_READ` or `E_STALE`. `action` and `written` are for the message: "refusing to edit a.ts". */
  mustHaveSeen(workspace: string, file: FileVersion, action: string, written: string): void;
}

const maxFiles = 20_000;

export function createReadTracker(): ReadTracker {
  // In order of use, so that the first key is the one to drop.
  const versions = new Map<string, string>();
  const keyOf = (workspace: string, path: string) => `${workspace}\0${path}`;

  return {
    saw(workspace, file) {
      const key = keyOf(workspace, file.path);
      versions.delete(key);
      versions.set(key, file.version);
      if (versions.size > maxFiles) for (const oldest of versions.keys()) return void versions.delete(oldest);
    },
    forget(workspace, path) {
      versions.delete(keyOf(workspace, path));
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
  return { saw() {}, forget() {}, mustHaveSeen() {} };
}
