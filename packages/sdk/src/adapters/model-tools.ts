import type { AgentFence, AgentTool } from '@croft/protocol';
import type { z } from 'zod';
import type { Box, ToolAnswer } from '../box/box.ts';
import type { ToolInput } from '../box/tool-caller.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface ModelToolsOptions {
  /** Names of tools. Default: those that MCP clients list. */
  readonly only?: readonly string[] | undefined;
  /**
   * The person who decides a call that needs approval. `croft` (default): somebody at the approval inbox, and the call
   * waits. `caller`: the person at the framework, who decides with the key of this program.
   */
  readonly approvals?: 'croft' | 'caller' | undefined;
}

/** One call of the model, as the framework names it. */
export interface ModelCall {
  readonly callId: string;
  readonly signal?: AbortSignal | undefined;
}

/** A tool of the agent, for a framework that runs a model. */
type Tool = z.output<typeof AgentTool>;

export interface ModelTool extends Pick<Tool, 'name' | 'title' | 'description' | 'inputSchema'> {
  /** Whether the framework has to ask its person first. Runs nothing. Absent where the approval inbox asks. */
  readonly mustAsk?: ((input: ToolInput, callId: string) => Promise<boolean>) | undefined;
  /** Rejects with a text for the model, or with the reason of the signal. */
  run(input: ToolInput, call: ModelCall): Promise<ToolAnswer>;
}

/** More calls than this do not wait for one person. */
const maxAsked = 1000;

/** Lists the tools of the agent of a box. Their calls run with the agent's permission mode and fence. */
export async function createModelTools(box: Box, options: ModelToolsOptions = {}): Promise<ModelTool[]> {
  const { only, approvals = 'croft' } = options;
  const tools = await box.agent.tools();
  for (const name of only ?? [])
    if (!tools.some((tool) => tool.name === name))
      throw new CroftError('E_UNKNOWN_TOOL', `the agent has no tool ${name}`);
  const wanted = tools.filter(({ name, isListed }) => only?.includes(name) ?? isListed);
  const decide = approvals === 'caller' ? createCallerApprovals(box) : undefined;
  return wanted.map((tool) => toModelTool(box, tool, decide));
}

type Decide = ReturnType<typeof createCallerApprovals>;

function toModelTool(box: Box, tool: Tool, decide: Decide | undefined): ModelTool {
  const { name, title, description, inputSchema } = tool;
  return {
    ...{ name, title, description, inputSchema },
    ...(decide && { mustAsk: (input, callId) => decide.mustAsk(tool, input, callId) }),
    async run(input, { callId, signal }) {
      try {
        await decide?.approve(tool, input, callId);
        return await box.call(name, input, { signal });
      } catch (thrown) {
        throw signal?.aborted ? thrown : toModelError(thrown);
      }
    },
  };
}

/** Approves calls with the key of this program: only those that the person at the framework was asked about and agreed to. */
function createCallerApprovals(box: Box) {
  const asked = new Set<string>();
  return {
    /**
     * Returns whether a person must be asked. Creates no approval on the server: if the person refuses, it would stay in
     * the inbox.
     */
    async mustAsk(tool: Tool, { workspace }: ToolInput, callId: string): Promise<boolean> {
      const { workspaces } = await box.fence();
      const isMeant =
        typeof workspace === 'string' ? named(workspace) : (one: Fence) => one.workspaceId === box.workspaceId;
      const asks = workspaces.some((one) => isMeant(one) && verdictOf(one, tool) === 'asks');
      if (asks) asked.add(callId);
      for (const oldest of asked) if (asked.size > maxAsked) asked.delete(oldest);
      return asks;
    },

    /** A framework runs a call that its person was asked about only if that person agreed. */
    async approve({ name }: Tool, input: ToolInput, callId: string): Promise<void> {
      if (!asked.delete(callId)) return;
      const { outcome, approval } = await box.ask(name, input);
      if (outcome === 'asks' && approval) await approve(box, approval.approvalId);
    },
  };
}

type Fence = AgentFence['workspaces'][number];

const named = (workspace: string) => (one: Fence) => one.name === workspace || workspace === 'all';

function verdictOf({ tools, read, write, run }: Fence, { name, access }: Tool): string {
  const own = tools.find((tool) => tool.name === name);
  return own?.verdict ?? { read, write, execute: run }[access].verdict;
}

/** Another person may have decided first: then the call itself reports that decision. */
async function approve({ client }: Box, approvalId: string): Promise<void> {
  await client.approvals.approve(approvalId).catch((thrown) => {
    if (!(CroftError.is(thrown) && thrown.code === 'E_APPROVAL_SETTLED')) throw thrown;
  });
}

/** Frameworks show the message of an error to the model: it says what to do next. */
export function toModelError(thrown: unknown): unknown {
  if (!CroftError.is(thrown)) return thrown;
  return Object.assign(new Error(`${thrown.code}: ${thrown.text}`, { cause: thrown }), { code: thrown.code });
}
