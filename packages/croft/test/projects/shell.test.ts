import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { hasToolchains } from '../support/toolchains.ts';
import { connectTo, connectWithout, makeProjects } from './project.ts';

const isReady = await hasToolchains('shellcheck');

describe.skipIf(!isReady)('shell scripts', () => {
  test('are linted by shellcheck, also one with a syntax error', async () => {
    using projectTree = makeProjects({ '': 'shell' });
    await using session = await connectTo(projectTree);
    expect((await session.call('run_lint')).structured).toMatchObject({ state: 'clean', findings: [] });

    projectTree.put('greet.sh', '#!/bin/sh\necho hello $1\n');
    const loose = (await session.call('run_lint')).structured;
    expect(loose.state).toBe('findings');
    expect(loose.findings).toMatchObject([{ file: 'greet.sh', line: 2, column: 12, rule: 'SC2086', severity: 'info' }]);

    projectTree.put('greet.sh', '#!/bin/sh\nif true\n');
    const unparsed = (await session.call('run_lint')).structured;
    expect(unparsed.state).toBe('findings');
    expect(unparsed.findings).toContainEqual(expect.objectContaining({ file: 'greet.sh', severity: 'error' }));
  });
});

test('are not called clean without shellcheck', async () => {
  using projectTree = makeProjects({ '': 'shell' });
  using bin = makeDirectory();
  await using session = await connectWithout(projectTree, join(bin.path, 'bin'));
  const answer = await session.call('run_lint');
  expect(answer.structured.error.code).toBe('E_TOOL_MISSING');
  expect(answer.text).toContain('shellcheck');
});

test('alone have no tests, which is not green', async () => {
  using projectTree = makeProjects({ '': 'shell' });
  await using session = await connectTo(projectTree);
  const answer = await session.call('run_tests');
  expect(answer.isError).toBe(true);
  expect(answer.text).toContain('no test command detected (shell)');
});
