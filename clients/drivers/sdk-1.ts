import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { croft, report } from './cases.ts';

/** The official SDK of version 1, which compares structured content with the schemas that `listTools` brought. */
const client = new Client({ name: 'croft-clients', version: '1.0.0' });
await client.connect(new StdioClientTransport(croft));
await client.listTools();
await report(async ({ tool, input }, onProgress) =>
  client.callTool({ name: tool, arguments: input }, undefined, {
    onprogress: onProgress,
    resetTimeoutOnProgress: true,
  }),
);
await client.close();
