import { expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { hasToolchains } from '../support/toolchains.ts';
import { connectTo, makeProjects, type Projects } from './project.ts';

const isReady = await hasToolchains('node');

function setScript(projectTree: Projects, test: string): void {
  projectTree.put('package.json', JSON.stringify({ name: 'sums', type: 'module', scripts: { test } }));
}

test.skipIf(!isReady)('changed settings count at the next call of the same server', async () => {
  using projectTree = makeProjects({ '': 'node' });
  projectTree.put('other/one.test.js', "import { test } from 'node:test';\ntest('other', () => {});\n");
  await using session = await connectTo(projectTree);
  setScript(projectTree, 'node --test other/one.test.js');
  expect((await session.call('run_tests')).structured).toMatchObject({ runs: [{ tool: 'node-test', passed: 1 }] });

  setScript(projectTree, 'node --test');
  expect((await session.call('run_tests')).structured).toMatchObject({ runs: [{ tool: 'node-test', passed: 4 }] });

  setScript(projectTree, 'vitest');
  const vitest = await session.call('run_tests');
  expect(vitest.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'vitest' } });

  projectTree.put('package.json', '{}');
  projectTree.put('jest.config.js', 'export default {};\n');
  const jest = await session.call('run_tests');
  expect(jest.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'jest' } });

  projectTree.put('.oxlintrc.json', '{}');
  expect((await session.call('run_lint')).structured.error).toMatchObject({ details: { program: 'oxlint' } });

  projectTree.put('deep/er/go.mod', 'module example.com/deep\n');
  expect((await session.call('run_tests', { language: 'rust' })).text).toContain('detected: go, node');

  for (const name of ['package.json', 'jest.config.js', 'deep']) projectTree.remove(name);
  expect((await session.call('run_tests')).text).toContain('no supported project detected in workspace root');
});

test.skipIf(!isReady)('the last failures are known, and run again, after a restart', async () => {
  using data = makeDirectory();
  using projectTree = makeProjects({ '': 'node' });
  const env = { CROFT_DATA: data.path };
  const source = projectTree.read('src/sums.js');
  projectTree.put('src/sums.js', source.replace('left + right', 'left - right'));
  {
    await using first = await connectTo(projectTree, { env });
    expect((await first.call('last_test_failures')).text).toBe('no run_tests call yet in this workspace');
    expect((await first.call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
  }
  await using second = await connectTo(projectTree, { env });
  const last = await second.call('last_test_failures');
  expect(last.text).toMatch(/^1 test failure\(s\) from last run_tests call \(node, /);
  expect(last.text).toContain('adds');
  projectTree.put('src/sums.js', source);
  expect((await second.call('run_failing_tests')).structured).toMatchObject({
    state: 'passed',
    runs: [{ passed: 1, failed: 0 }],
  });

  using elsewhere = makeProjects({ '': 'node' });
  await using other = await connectTo(elsewhere, { env });
  expect((await other.call('last_test_failures')).text).toBe('no run_tests call yet in this workspace');
});
