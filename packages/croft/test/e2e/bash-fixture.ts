import { afterAll, beforeAll } from 'vitest';
import { type CallOptions, connectStdio, type McpSession, makeDirectory, type ToolAnswer } from '../support/harness.ts';

export const canary = `canary-${crypto.randomUUID()}`;
export const directory = makeDirectory({ 'here.txt': 'sudo is a word\n', 'other.txt': '' });
/** Shared by all tests of the file that imports this. */
let session: McpSession;

beforeAll(async () => {
  session = await connectStdio(['--workspace', directory.path], { env: { LEAK: canary } });
  await session.client.listTools();
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

export const call = (name: string, args: Record<string, unknown>, options?: CallOptions) =>
  session.call(name, args, options);
export const run = (command: string, more: Record<string, unknown> = {}): Promise<ToolAnswer> =>
  call('bash', { command, ...more });
