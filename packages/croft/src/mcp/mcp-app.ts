import type { ToolResult } from '../core/tool.ts';
import type { ToolDescription } from '../core/tool-description.ts';
import type { Caller } from '../core/toolbox.ts';

/** Whatever MCP serves: tools, and the sessions that call them. `S` is what such a session is known by. */
export interface McpApp<S> {
  readonly toolbox: {
    /** Those of one session. */
    list(session: S): Promise<readonly ToolDescription[]>;
    call(
      name: string,
      rawInput: unknown,
      caller: Omit<Caller, 'session'> & { readonly session: S },
    ): Promise<ToolResult>;
    mayAsk(name: string): boolean;
  };
  readonly sessions: { get(id: string): S; end(id: string): Promise<void> };
  /** For the model. Left out: those of every Croft. */
  readonly instructions?: string | undefined;
}
