import { utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../../test/support/harness.ts';
import { createDiskFiles } from '../../../disk/disk-files.ts';
import { openRoot } from '../../../disk/paths/handles.ts';
import type { Profile } from '../../projects/profile.ts';
import { readNewReports, stampReports } from './read-new-reports.ts';

const location = { directory: 'target/surefire-reports', suffix: '.xml' };
const profile: Profile = { language: 'java', ecosystem: 'maven', directory: 'app', extensions: [], scripts: {} };

function open(path: string) {
  return { files: createDiskFiles({ handle: openRoot(path), names: [path] }), profile, location };
}

test('only a report that this run wrote counts, not one of an earlier run', async () => {
  using workspace = makeDirectory({
    'app/target/surefire-reports/TEST-Stale.xml': '<stale/>',
    'app/core/target/surefire-reports/TEST-Again.xml': '<old/>',
  });
  const search = open(workspace.path);
  const before = await stampReports(search);
  expect(before.size).toBe(2);
  expect(await readNewReports(search, before)).toBeUndefined();

  writeFileSync(workspace.at('app/core/target/surefire-reports/TEST-Again.xml'), '<again/>');
  utimesSync(workspace.at('app/core/target/surefire-reports/TEST-Again.xml'), 1_900_000_000, 1_900_000_000);
  writeFileSync(workspace.at('app/target/surefire-reports/TEST-New.xml'), '<new/>');
  writeFileSync(workspace.at('app/target/surefire-reports/New.txt'), 'no report');
  const text = await readNewReports(search, before);
  expect(text?.split('\n').sort()).toEqual(['<again/>', '<new/>']);
});
