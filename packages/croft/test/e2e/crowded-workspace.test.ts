import { expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../harness.ts';

test('a workspace with more settings than can be held says so, and what to do', async () => {
  const tree = Object.fromEntries(Array.from({ length: 4200 }, (_, index) => [`d${index}/.mcp.json`, '{}']));
  using crowded = makeDirectory(tree);
  await using session = await connectStdio(['--workspace', crowded.path]);
  const { isError, text, structured } = await session.call('bash', { command: 'true' });
  expect(isError).toBe(true);
  expect(structured.error.code).toBe('E_SANDBOX_UNAVAILABLE');
  expect(text).toContain('more hooks and settings');
  expect(text).not.toContain('Argument list');
});
