import type { ChangeFeeds } from '../../core/content/change-feeds.ts';
import type { FileDoor } from '../../core/content/file-door.ts';
import type { PermissionMode } from '../../core/permission.ts';

/** A workspace that the operator gave by a flag. */
export interface FlagDoor extends FileDoor {
  readonly name: string;
  /** As the model sees it. */
  readonly root: string;
  /** What a person has to agree to. */
  readonly permission: PermissionMode;
}

export interface FlagDoors {
  /** Without a name, the first. Throws `E_UNKNOWN_WORKSPACE`. */
  pick(name: string | undefined): FlagDoor;
  readonly feeds: ChangeFeeds;
  readonly maxUploadBytes: number;
}
