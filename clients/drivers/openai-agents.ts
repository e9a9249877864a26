import { getAllMcpTools, MCPServerStdio, RunContext, setTracingDisabled } from '@openai/agents';
import { croft, report } from './cases.ts';

setTracingDisabled(true);
const server = new MCPServerStdio({ name: 'croft', command: croft.command, args: [...croft.args] });
await server.connect();
const tools = await getAllMcpTools({ mcpServers: [server] });
await report(async ({ tool: name, input }) => {
  const tool = tools.find((one) => one.name === name);
  if (tool?.type !== 'function') throw new Error(`no function ${name}`);
  return tool.invoke(new RunContext(), JSON.stringify(input), {});
});
await server.close();
