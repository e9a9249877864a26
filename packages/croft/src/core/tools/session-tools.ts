import type { Session } from '../sessions/session.ts';
import type { Tool } from './tool.ts';

/** A request for a tool that only a session has, such as a tool of an inner MCP server. */
export interface SessionToolRequest {
  readonly name: string;
  /** The `workspace` argument of the call, of any type. */
  readonly workspace: unknown;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Port to tools that only one session has, such as those of MCP servers in its sandbox. The list changes over time. */
export interface SessionTools {
  /** Whether a session tool could have this name. All session tools run programs. */
  isName(name: string): boolean;
  /** Does not wait for slow servers: tools that are not known in time are left out. */
  list(session: Session): Promise<readonly Tool[]>;
  find(wanted: SessionToolRequest): Promise<Tool | undefined>;
}
