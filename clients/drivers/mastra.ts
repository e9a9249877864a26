import { MCPClient } from '@mastra/mcp';
import { croft, report } from './cases.ts';

const client = new MCPClient({
  servers: { croft: { command: croft.command, args: croft.args, timeout: 60_000 } },
});
const tools = await client.listTools();
await report(async ({ tool, input }) => {
  const { execute, toModelOutput } = tools[`croft_${tool}`] as unknown as {
    execute(input: unknown, options: object): Promise<unknown>;
    toModelOutput?(output: unknown): unknown;
  };
  const output = await execute(input, {});
  return toModelOutput ? toModelOutput(output) : output;
});
await client.disconnect();
