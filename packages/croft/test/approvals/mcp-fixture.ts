import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ToolResult } from '../../src/core/tools/tool.ts';
import { createElicitation, type ElicitationOptions } from '../../src/mcp/elicitation.ts';
import { createMcpHttp } from '../../src/mcp/http/mcp-http.ts';
import type { McpApp } from '../../src/mcp/mcp-app.ts';
import { type Era, structuredOf } from '../support/harness.ts';
import { type ApprovalsFixture, callOf, nobody } from './fixture.ts';

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string> | undefined;
}

export type Question = { message: string; requestedSchema: object };

export interface ClientOptions {
  readonly era: Era;
  /** Without it, the client cannot ask its user. */
  readonly answer?: ((question: Question) => Answer | Promise<Answer>) | undefined;
  readonly session?: string;
}

const key = 'k'.repeat(32);

/**
 * Opens the real MCP face over a toolbox that only has calls approved. `ran` lists the calls that were allowed to run.
 */
export function openMcp(fixture: ApprovalsFixture, options: Partial<ElicitationOptions> = {}) {
  const ran: unknown[] = [];
  let underWay = 0;
  const app: McpApp<string> = {
    toolbox: {
      list: async () => [describe('bash'), describe('write')],
      async call(tool, input, { session, signal, asker = nobody }): Promise<ToolResult> {
        const preview = async () => JSON.stringify(input);
        underWay += 1;
        if (asker === 'later') throw new Error('the fast lane takes none of these calls');
        await fixture.approvals.mustBeApproved(callOf({ session, tool, input, preview }), asker, signal).finally(() => {
          underWay -= 1;
        });
        ran.push(input);
        return { text: 'ran', structured: {} };
      },
      mayAsk: () => true,
    },
    sessions: { get: (id) => id, end: async () => {} },
  };
  const asking = createElicitation({ key, waitMs: 0, ...options });
  const face = createMcpHttp(app, 'key_1', { maxBodyBytes: 1_000_000, elicitation: asking, onError: () => {} });
  const connect = (clientOptions: ClientOptions) => connectClient(face.fetch, clientOptions);
  return { ran, face, connect, underWay: () => underWay, [Symbol.asyncDispose]: () => face.close() };
}

async function connectClient(fetch: (request: Request) => Promise<Response>, { era, answer, session }: ClientOptions) {
  const client = new Client(
    { name: 'croft-test', version: '1.0.0' },
    {
      capabilities: answer ? { elicitation: {} } : {},
      ...(era === '2026' && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  const questions: Question[] = [];
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params as Question);
      return { ...(await answer(params as Question)) };
    });
  const transport = new StreamableHTTPClientTransport(new URL('http://croft.test/mcp'), {
    fetch: (url, init) => fetch(new Request(url, init)),
    requestInit: { headers: session === undefined ? {} : { 'croft-session': session } },
  });
  await client.connect(transport);
  return {
    client,
    questions,
    /** Returns `ran`, or the error code of the refusal. */
    async call(command: string, more: object = {}, options?: Parameters<Client['callTool']>[1]): Promise<string> {
      const result = await client.callTool({ name: 'bash', arguments: { command }, ...more }, options);
      const { error } = (structuredOf(result) ?? {}) as { error?: { code: string } };
      return error?.code ?? 'ran';
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

function describe(name: string) {
  const schema = z.toJSONSchema(z.looseObject({})) as Record<string, unknown>;
  const traits = { toolset: 'commands', isListed: true, access: 'execute', idempotent: false } as const;
  const schemas = { inputSchema: schema, outputSchema: schema };
  return { name, title: name, description: name, ...traits, ...schemas };
}
