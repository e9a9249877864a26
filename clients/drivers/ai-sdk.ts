import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { croft, report } from './cases.ts';

const client = await createMCPClient({ transport: new StdioTransport(croft) });
const tools = await client.tools();
await report(async ({ tool, input }) => {
  const { execute, toModelOutput } = tools[tool] as unknown as {
    execute(input: unknown, options: object): Promise<unknown>;
    toModelOutput?(options: object): unknown;
  };
  const output = await execute(input, { toolCallId: '1', messages: [] });
  return toModelOutput ? toModelOutput({ toolCallId: '1', input, output }) : output;
});
await client.close();
