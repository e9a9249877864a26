import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { croft, report } from './cases.ts';

const client = new MultiServerMCPClient({
  mcpServers: { croft: { transport: 'stdio', command: croft.command, args: croft.args, stderr: 'ignore' } },
});
const tools = await client.getTools();
await report(async ({ tool: name, input }) => {
  const tool = tools.find((one) => one.name === name);
  const message = await tool?.invoke({ type: 'tool_call', id: '1', name, args: input });
  return message.content;
});
await client.close();
