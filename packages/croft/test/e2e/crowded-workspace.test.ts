import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';

test('a workspace with more repositories than mounts can hold opens, can be cleaned, and is held by name', async () => {
  const tree = Object.fromEntries(Array.from({ length: 1100 }, (_, index) => [`d${index}/.git/HEAD`, 'ref: x\n']));
  using crowded = makeDirectory(tree);
  await using session = await connectStdio(['--workspace', crowded.path]);
  const bash = async (command: string) => (await session.call('bash', { command })).text;
  const all = Array.from({ length: 1100 }, (_, index) => index);
  const settings = (index: number) => crowded.at(`d${index}/.git/config`);
  const hook = (index: number) => crowded.at(`d${index}/.git/hooks/pre-commit`);
  await bash('for d in d*; do printf "[core]\\n\\tfsmonitor = touch ran\\n" > $d/.git/config; done; true');
  await bash('for d in d*; do mkdir -p $d/.git/hooks; printf "#!/bin/sh\\n" > $d/.git/hooks/pre-commit; done; true');
  expect(
    all.filter((index) => existsSync(settings(index)) && readFileSync(settings(index), 'utf8').includes('ran')),
  ).toEqual([]);
  expect(all.filter((index) => existsSync(hook(index)))).toEqual([]);
  expect(await bash('rm -rf d7 && ls | wc -l')).toMatch(/^1099\n/);
});

test('files that look like settings but that no program obeys do not count', async () => {
  const names = Array.from({ length: 6000 }, (_, index) => [`d${index}/.envrc`, `d${index}/.mcp.json`]).flat();
  using crowded = makeDirectory(Object.fromEntries(names.map((name) => [name, '{}'])));
  await using session = await connectStdio(['--workspace', crowded.path]);
  const { isError, text } = await session.call('bash', { command: 'rm -r d1 && echo clean' });
  // A tree as large as this is not read when the first command runs, which is said.
  expect({ isError, text }).toEqual({ isError: false, text: expect.stringMatching(/^clean\n/) });
});
