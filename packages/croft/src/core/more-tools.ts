import type { Session } from './session.ts';
import type { Tool } from './tool.ts';

/** A call that names a tool which is not in the box. */
export interface WantedTool {
  readonly name: string;
  /** What the caller passed as `workspace`, of any type. */
  readonly workspace: unknown;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Tools that a session has besides those of the box: each session its own, and others at other times. */
export interface MoreTools {
  /** Whether one of them could have this name. All of them run programs. */
  isName(name: string): boolean;
  /** Never waits for long: what is not there by then is left out. */
  list(session: Session): Promise<readonly Tool[]>;
  find(wanted: WantedTool): Promise<Tool | undefined>;
}
