import {
  AgentFence,
  AgentPrompt,
  AgentSession,
  AgentSessionList,
  AgentToolAnswer,
  AgentToolList,
  ApprovalAnswer,
  CallOutlook,
  Deleted,
  type OpenAgentSession,
} from '@croft/protocol';
import type { z } from 'zod';
import { type PageOptions, readAll } from './pages.ts';
import { path, type Request } from './request.ts';

export interface AgentOptions {
  /** The caller's name for its session. Default: the default session. */
  readonly session?: string | undefined;
}

export interface ToolCallOptions {
  /** The approval for exactly this call. */
  readonly approvalId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The call ran, or it needs an approval: then repeat the same call with the `approvalId`. */
export type ToolCall =
  | { readonly result: z.output<typeof AgentToolAnswer>; readonly approval?: undefined }
  | { readonly result?: undefined; readonly approval: z.output<typeof ApprovalAnswer>['approval'] };

const Result = AgentToolAnswer.transform((result) => ({ result }));

export type AgentClient = ReturnType<typeof createAgent>;

/** Calls the tools of one agent. */
export function createAgent(request: Request, agentId: string, { session }: AgentOptions = {}) {
  const root = path`/v1/agents/${agentId}`;
  const headers = { 'croft-session': session };
  const listSessions = (page: PageOptions = {}) =>
    request('GET', `${root}/sessions`, { answer: AgentSessionList, query: { ...page } });

  return {
    tools: async () => (await request('GET', `${root}/tools`, { answer: AgentToolList, headers })).tools,
    call: (tool: string, input: Record<string, unknown>, options: ToolCallOptions = {}): Promise<ToolCall> =>
      request('POST', root + path`/tools/${tool}`, {
        answer: Result,
        accepted: ApprovalAnswer,
        body: input,
        headers: { ...headers, 'croft-approval': options.approvalId },
        signal: options.signal,
      }),
    /** What the call would do. Runs nothing; makes the approval if the call needs one. */
    ask: (tool: string, input: Record<string, unknown>) =>
      request('POST', root + path`/tools/${tool}/ask`, { answer: CallOutlook, body: input, headers }),
    /** What the agent may do in each of its workspaces. */
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
}
