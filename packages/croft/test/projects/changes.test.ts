import { expect, test } from 'vitest';
import { makeDirectory } from '../harness.ts';
import { hasToolchains } from '../toolchains.ts';
import { connectTo, makeProjects, type Projects } from './project.ts';

const isReady = await hasToolchains('node');

function setScript(ground: Projects, test: string): void {
  ground.put('package.json', JSON.stringify({ name: 'sums', type: 'module', scripts: { test } }));
}

test.skipIf(!isReady)('settings that change are seen at the next call of the same server', async () => {
  using ground = makeProjects({ '': 'node' });
  ground.put('other/one.test.js', "import { test } from 'node:test';\ntest('other', () => {});\n");
  await using session = await connectTo(ground);
  setScript(ground, 'node --test other/one.test.js');
  expect((await session.call('run_tests')).structured).toMatchObject({ runs: [{ tool: 'node-test', passed: 1 }] });

  setScript(ground, 'node --test');
  expect((await session.call('run_tests')).structured).toMatchObject({ runs: [{ tool: 'node-test', passed: 4 }] });

  setScript(ground, 'vitest');
  const vitest = await session.call('run_tests');
  expect(vitest.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'vitest' } });

  ground.put('package.json', '{}');
  ground.put('jest.config.js', 'export default {};\n');
  const jest = await session.call('run_tests');
  expect(jest.structured.error).toMatchObject({ code: 'E_TOOL_MISSING', details: { program: 'jest' } });

  ground.put('.oxlintrc.json', '{}');
  expect((await session.call('run_lint')).structured.error).toMatchObject({ details: { program: 'oxlint' } });

  ground.put('deep/er/go.mod', 'module example.com/deep\n');
  expect((await session.call('run_tests', { language: 'rust' })).text).toContain('detected: go, node');

  for (const name of ['package.json', 'jest.config.js', 'deep']) ground.remove(name);
  expect((await session.call('run_tests')).text).toContain('no supported project detected in workspace root');
});

test.skipIf(!isReady)('what failed is still known, and run again, after the server was started anew', async () => {
  using data = makeDirectory();
  using ground = makeProjects({ '': 'node' });
  const env = { CROFT_DATA: data.path };
  const source = ground.read('src/sums.js');
  ground.put('src/sums.js', source.replace('left + right', 'left - right'));
  {
    await using first = await connectTo(ground, { env });
    expect((await first.call('last_test_failures')).text).toBe('no run_tests call yet in this workspace');
    expect((await first.call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ failed: 1 }] });
  }
  await using second = await connectTo(ground, { env });
  const last = await second.call('last_test_failures');
  expect(last.text).toMatch(/^1 test failure\(s\) from last run_tests call \(node, /);
  expect(last.text).toContain('adds');
  ground.put('src/sums.js', source);
  expect((await second.call('run_failing_tests')).structured).toMatchObject({
    state: 'passed',
    runs: [{ passed: 1, failed: 0 }],
  });

  using elsewhere = makeProjects({ '': 'node' });
  await using other = await connectTo(elsewhere, { env });
  expect((await other.call('last_test_failures')).text).toBe('no run_tests call yet in this workspace');
});
