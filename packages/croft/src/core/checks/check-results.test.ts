import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { createJsonFile } from '../../lib/files/json-file.ts';
import { createCheckResults, type TestRun } from './check-results.ts';

const run = (language: string, directory = ''): TestRun => ({
  ...{ language, directory, tool: 'x', state: 'failed', passed: 1, failed: 1, skipped: 0, endedAt: 5 },
  failures: [{ name: 'a', message: 'm', isBuild: true }],
});

test('the next server has the saved results, the newest of each project', async () => {
  using directory = makeDirectory();
  const open = () => createCheckResults(createJsonFile(directory.at('kept/results.json')));
  const results = open();
  await Promise.all([results.saveRun(run('go')), results.saveRun(run('node')), results.saveRun(run('go', 'api'))]);
  await results.saveRun({ ...run('go'), state: 'passed', failures: [] });

  const { runs } = await open().load();
  expect(runs.map(({ language, directory: at, state }) => `${language}:${at}:${state}`).sort()).toEqual([
    'go::passed',
    'go:api:failed',
    'node::failed',
  ]);
  expect(runs.find(({ language }) => language === 'node')).toEqual(run('node'));
});

test.each(['', '{', '{"runs": [{"language": 1}]}', 'null'])(
  'a file that holds %j is not read as a result',
  async (text) => {
    using directory = makeDirectory();
    writeFileSync(directory.at('results.json'), text);
    const results = createCheckResults(createJsonFile(directory.at('results.json')));
    expect((await results.load()).runs).toEqual([]);
    await results.saveRun(run('go'));
    expect((await results.load()).runs).toHaveLength(1);
  },
);
