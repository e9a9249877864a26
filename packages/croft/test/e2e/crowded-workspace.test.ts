import { expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';

test('a workspace with more repositories than the sandbox can guard fails with advice', async () => {
  const tree = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`d${index}/.git/HEAD`, 'ref: x\n']));
  using crowded = makeDirectory(tree);
  await using session = await connectStdio(['--workspace', crowded.path]);
  const { isError, text, structured } = await session.call('bash', { command: 'true' });
  expect(isError).toBe(true);
  expect(structured.error.code).toBe('E_SANDBOX_UNAVAILABLE');
  expect(text).toContain('more hooks and settings');
  expect(text).not.toContain('Argument list');
});

test('files that look like settings but that no program obeys do not count', async () => {
  const names = Array.from({ length: 6000 }, (_, index) => [`d${index}/.envrc`, `d${index}/.mcp.json`]).flat();
  using crowded = makeDirectory(Object.fromEntries(names.map((name) => [name, '{}'])));
  await using session = await connectStdio(['--workspace', crowded.path]);
  const { isError, text } = await session.call('bash', { command: 'rm -r d1 && echo clean' });
  // A tree as large as this is not read when the first command runs, which is said.
  expect({ isError, text }).toEqual({ isError: false, text: expect.stringMatching(/^clean\n/) });
});
