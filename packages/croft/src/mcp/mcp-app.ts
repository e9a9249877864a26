import type { ToolDescription } from '../core/calls/describe-tool.ts';
import type { Caller } from '../core/calls/toolbox.ts';
import type { ToolResult } from '../core/tools/tool.ts';

/** The parts that MCP serves: tools, and the sessions that call them. `S` identifies a session. */
export interface McpApp<S> {
  readonly toolbox: {
    /** Lists the tools of one session. */
    list(session: S): Promise<readonly ToolDescription[]>;
    call(
      name: string,
      rawInput: unknown,
      caller: Omit<Caller, 'session'> & { readonly session: S },
    ): Promise<ToolResult>;
    mayAsk(name: string): boolean;
  };
  readonly sessions: {
    get(id: string): S;
    end(id: string): Promise<void>;
    /** Throws `E_NOT_FOUND` for an unknown child session. Without it, there are no child sessions. */
    mustHaveChild?(id: string): Promise<void>;
  };
  /** Instructions for the model of a session. Without it, the default instructions are used. */
  instructions?(session: S): Promise<string>;
}
