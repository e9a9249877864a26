import {
  AgentFence,
  AgentPrompt,
  AgentSession,
  AgentSessionList,
  AgentToolAnswer,
  AgentToolList,
  ApprovalAnswer,
  CallOutlook,
  CallOutput,
  Deleted,
  type OpenAgentSession,
} from '@croft/protocol';
import type { z } from 'zod';
import { type PageOptions, readAll } from './pages.ts';
import { readToolCall, type ToolBytes, type ToolOutput } from './read-tool-events.ts';
import { path, type Request, type Send } from './request.ts';

export interface AgentOptions {
  /** The caller's name for its session. Default: the default session. */
  readonly session?: string | undefined;
}

export interface ToolCallOptions {
  /** The approval for exactly this call. */
  readonly approvalId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Receives what the command of the call prints, while it runs. The command waits while the promise is pending. */
  readonly onOutput?: ((output: ToolOutput) => Promise<void> | void) | undefined;
  /** Instead of `onOutput`: receives the output as bytes, with the control sequences and bytes that are no text. */
  readonly onBytes?: ((output: ToolBytes) => Promise<void> | void) | undefined;
  /** With `onBytes`: tells programs to print colours, as on a terminal. */
  readonly color?: boolean | undefined;
}

/** The call ran, or it needs an approval: then repeat the same call with the `approvalId`. */
export type ToolCall =
  | { readonly result: z.output<typeof AgentToolAnswer>; readonly approval?: undefined }
  | { readonly result?: undefined; readonly approval: z.output<typeof ApprovalAnswer>['approval'] };

const Result = AgentToolAnswer.transform((result) => ({ result }));

export type AgentClient = ReturnType<typeof createAgent>;

interface AgentRequests {
  readonly request: Request;
  readonly send: Send;
}

/** Calls the tools of one agent. */
export function createAgent({ request, send }: AgentRequests, agentId: string, { session }: AgentOptions = {}) {
  const root = path`/v1/agents/${agentId}`;
  const headers = { 'croft-session': session };
  const listSessions = (page: PageOptions = {}) =>
    request('GET', `${root}/sessions`, { answer: AgentSessionList, query: { ...page } });

  return {
    tools: async () => (await request('GET', `${root}/tools`, { answer: AgentToolList, headers })).tools,
    call(tool: string, input: Record<string, unknown>, options: ToolCallOptions = {}): Promise<ToolCall> {
      const address = root + path`/tools/${tool}`;
      const { approvalId, signal, onOutput, onBytes } = options;
      const given = { ...headers, 'croft-approval': approvalId };
      if (onOutput || onBytes) return follow(address, input, { ...options, headers: given });
      return request('POST', address, {
        ...{ answer: Result, accepted: ApprovalAnswer, body: input, headers: given, signal },
      });
    },
    /** Says what the call would do. Runs nothing; requests the approval if the call needs one. */
    ask: (tool: string, input: Record<string, unknown>) =>
      request('POST', root + path`/tools/${tool}/ask`, { answer: CallOutlook, body: input, headers }),
    /** Returns the output so far of a running call. */
    output: async (callId: string) =>
      (await request('GET', root + path`/calls/${callId}/output`, { answer: CallOutput })).output,
    /** Says what the agent may do in each of its workspaces. */
    fence: () => request('GET', `${root}/fence`, { answer: AgentFence, headers }),
    prompt: async () => (await request('GET', `${root}/prompt`, { answer: AgentPrompt, headers })).prompt,
    sessions: {
      list: listSessions,
      all: () => readAll(listSessions, ({ sessions }) => sessions),
      /** Opens a child session with the same or narrower limits. Use its name as `session` in calls. */
      open: (body: z.input<typeof OpenAgentSession> = {}) =>
        request('POST', `${root}/sessions`, { answer: AgentSession, body: { parent: session, ...body } }),
      end: async (name: string): Promise<void> => {
        await request('DELETE', root + path`/sessions/${name}`, { answer: Deleted });
      },
    },
  };

  async function follow(address: string, input: Record<string, unknown>, options: FollowOptions): Promise<ToolCall> {
    const { signal, onBytes, color } = options;
    const headers = {
      ...{ ...options.headers, accept: 'text/event-stream', 'content-type': 'application/json' },
      'croft-output': onBytes && (color ? 'color' : 'bytes'),
    };
    return readToolCall(await send('POST', address, { body: JSON.stringify(input), headers, signal }), options);
  }
}

interface FollowOptions extends ToolCallOptions {
  readonly headers: Readonly<Record<string, string | undefined>>;
}
