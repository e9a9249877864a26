import {
  AgentFence,
  AgentPrompt,
  AgentToolAnswer,
  AgentToolEvent,
  AgentToolInput,
  AgentToolList,
  AppError,
  ApprovalAnswer,
  CallOutlook,
  CallOutput,
} from '@croft/protocol';
import type { ToolResult } from '../../core/tools/tool.ts';
import { callHeaders, readApproval, readOutputForm, readSession, sessionHeaders } from '../http/agent-headers.ts';
import { acceptsEvents } from '../http/event-stream.ts';
import { streamRunningCall } from '../http/stream-running-call.ts';
import { defineRoute, type RouteAnswer } from '../platform/route.ts';

/** The tools of an agent, for clients that use HTTP and not MCP. */
export const agentToolRoutes = [
  defineRoute({
    method: 'GET',
    path: '/agents/{agentId}/tools',
    summary: 'Lists the tools the agent has',
    scopes: ['read', 'call'],
    ofFlags: true,
    ofAgents: true,
    headers: { 'Croft-Session': sessionHeaders['Croft-Session'] },
    answer: AgentToolList,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params, request }) {
      const tools = await agents.tools(actor, params.agentId, readSession(request));
      return { body: { tools } };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{agentId}/tools/{name}',
    summary:
      'Calls a tool: the body is its input, the answer its structured result. With Accept: text/event-stream, a call ' +
      'that prints something is answered with events: each part of the output as it comes, then the result',
    scopes: ['call'],
    ofFlags: true,
    ofAgents: true,
    large: true,
    headers: callHeaders,
    body: AgentToolInput,
    answer: AgentToolAnswer,
    followed: AgentToolEvent,
    alsoAnswers: { 202: ApprovalAnswer },
    failures: ['E_NOT_FOUND', 'E_UNKNOWN_TOOL', 'E_READ_ONLY', 'E_APPROVAL_MISMATCH', 'E_APPROVAL_EXPIRED'],
    async handle({ agents }, { actor, params, body: input, request, isStillAllowed }) {
      const { agentId, name: tool } = params;
      const approvalId = readApproval(request);
      const session = readSession(request);
      const { signal } = request;
      const form = readOutputForm(request);
      const call = { actor, agentId, session, tool, input, approvalId, signal };
      if (!acceptsEvents(request)) return agents.call(call).then(toAnswer, toPending);
      return streamRunningCall({
        form,
        run: (onOutput, ending) => agents.call({ ...call, onOutput, signal: ending }),
        toResult,
        isStillAllowed,
        signal,
      }).then((answer) => (answer instanceof Response ? answer : toAnswer(answer)), toPending);
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/agents/{agentId}/tools/{name}/ask',
    summary: 'Says what a call of a tool would do, and runs nothing; makes the approval if the call needs one',
    scopes: ['call'],
    ofFlags: true,
    ofAgents: true,
    large: true,
    headers: { 'Croft-Session': sessionHeaders['Croft-Session'] },
    body: AgentToolInput,
    answer: CallOutlook,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params, body: input, request }) {
      const { agentId, name: tool } = params;
      const call = { actor, agentId, session: readSession(request), tool, input, signal: request.signal };
      return { body: await agents.ask(call) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/{agentId}/calls/{callId}/output',
    summary: 'What the command of a running call has printed so far, redacted as its answer will be',
    scopes: ['read'],
    ofFlags: true,
    answer: CallOutput,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params }) {
      const { agentId, callId } = params;
      const output = await agents.outputOf(actor, agentId, callId);
      if (output === undefined) throw new AppError('E_NOT_FOUND', 'no such call runs a command on this server');
      return { body: { output } };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/{agentId}/fence',
    summary: 'Shows what the agent may do in each of its workspaces: which calls run, ask or are refused',
    scopes: ['read', 'call'],
    ofFlags: true,
    ofAgents: true,
    headers: { 'Croft-Session': sessionHeaders['Croft-Session'] },
    answer: AgentFence,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params, request }) {
      return { body: await agents.fence(actor, params.agentId, readSession(request)) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/{agentId}/prompt',
    summary: 'Guidance and memory of the workspaces that the session has, for its model',
    scopes: ['read', 'call'],
    ofAgents: true,
    headers: { 'Croft-Session': sessionHeaders['Croft-Session'] },
    answer: AgentPrompt,
    failures: ['E_NOT_FOUND'],
    async handle({ agents }, { actor, params, request }) {
      return { body: { prompt: await agents.prompt(actor, params.agentId, readSession(request)) } };
    },
  }),
];

function toResult({ structured, image }: ToolResult) {
  return { ...structured, image };
}

function toAnswer(result: ToolResult): RouteAnswer {
  return { body: toResult(result) };
}

/** A call that waits for an approval is answered with 202 and is not a failure. */
function toPending(thrown: unknown): RouteAnswer {
  if (!(AppError.is(thrown) && thrown.code === 'E_APPROVAL_REQUIRED')) throw thrown;
  return { status: 202, body: { approval: thrown.details.approval } };
}
