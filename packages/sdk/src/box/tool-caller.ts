import type { Approval } from '@croft/protocol';
import type { z } from 'zod';
import type { ToolCall, ToolCallOptions } from '../client/agent.ts';
import type { Client } from '../client/create-client.ts';
import { pause } from '../connection/resilient-fetch.ts';
import { CroftError } from '../errors/croft-error.ts';

/** Says what a call does that needs approval: it waits for the decision, or throws at once. */
export type ApprovalPolicy = 'wait' | 'throw';

export interface ToolCallerOptions {
  readonly client: Client;
  readonly agentId: string;
  readonly session: string;
  /** The name by which the agent knows the workspace. */
  readonly workspace: string;
  readonly approvals: ApprovalPolicy;
}

export type CallOptions = Omit<ToolCallOptions, 'approvalId'>;

export type ToolInput = Readonly<Record<string, unknown>>;
export type ToolCaller = ReturnType<typeof createToolCaller>;

const firstLookMs = 100;
const longestLookMs = 2000;

/** Calls tools of the agent in one workspace and session. */
export function createToolCaller({ client, agentId, session, workspace, approvals }: ToolCallerOptions) {
  const agent = client.agent(agentId, { session });
  /** Tools of the session, which are in no workspace. They say so before they run. */
  const withoutWorkspace = new Set<string>();
  const callIn = async (tool: string, input: ToolInput, options: ToolCallOptions): Promise<ToolCall> => {
    if (withoutWorkspace.has(tool)) return agent.call(tool, input, options);
    return agent.call(tool, { workspace, ...input }, options).catch((thrown) => {
      if (!hasNoWorkspace(thrown) || 'workspace' in input) throw thrown;
      withoutWorkspace.add(tool);
      return agent.call(tool, input, options);
    });
  };

  return {
    workspace,
    agent,
    /** Calls a tool, and parses its structured answer. */
    async call<Schema extends z.ZodType>(
      tool: string,
      input: ToolInput,
      answer: Schema,
      options: CallOptions = {},
    ): Promise<z.output<Schema>> {
      let approvalId: string | undefined;
      for (;;) {
        const { result, approval } = await callIn(tool, input, { ...options, approvalId });
        if (result) return answer.parse(result);
        if (approvals === 'throw') throw mustBeApproved(approval);
        approvalId = approval.approvalId;
        await untilDecided(client, approval, options.signal);
      }
    },
  };
}

function hasNoWorkspace(thrown: unknown): boolean {
  if (!CroftError.is(thrown) || thrown.code !== 'E_INVALID_INPUT') return false;
  const { arguments: names } = thrown.details;
  return Array.isArray(names) && names.length === 1 && names[0] === 'workspace';
}

function mustBeApproved(approval: Approval): CroftError {
  const { tool, approvalId } = approval;
  return new CroftError('E_APPROVAL_REQUIRED', `a person has to agree to this call of ${tool}: ${approvalId}`, {
    details: { approval },
  }) as CroftError;
}

/** Resolves when the approval is decided or expired: the call itself then says which. */
async function untilDecided(
  { approvals }: Client,
  { approvalId, expiresAt }: Approval,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let ms = firstLookMs; Date.now() < Date.parse(expiresAt); ms = Math.min(ms * 2, longestLookMs)) {
    await pause(ms, signal);
    const found = await approvals.get(approvalId).catch((thrown) => {
      // A key of the scope `call` alone sees no approvals: the call, made again, shows the decision.
      if (CroftError.is(thrown) && thrown.code === 'E_FORBIDDEN') return undefined;
      throw thrown;
    });
    if (found?.state !== 'pending') return found ? undefined : pause(longestLookMs, signal);
  }
}
