import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { StartClient, ToolCall } from './stdio-client.ts';

/** The official client, to measure what its users see. Its own work is part of every figure. */
export const startSdkClient: StartClient = async ([command, ...args]) => {
  const client = new Client({ name: 'croft-bench', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));

  async function ask({ tool, args: toolArguments }: ToolCall): Promise<string> {
    const result = await client.callTool({ name: tool, arguments: { ...toolArguments } });
    const texts = (result.content ?? []).map((block) => ('text' in block ? block.text : ''));
    if (result.isError) throw new Error(`${command} answered with an error: ${texts.join('')}`);
    return texts.join('');
  }

  return {
    ask,
    call: ask,
    callAll: (calls) => Promise.all(calls.map(ask)),
    [Symbol.asyncDispose]: () => client.close(),
  };
};
