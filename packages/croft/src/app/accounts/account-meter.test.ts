import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { measureTree } from '../../lib/disk-space/measure-tree.ts';
import { cacheDirectoryFor } from '../../lib/files/cache-directory.ts';
import { namespaceOf } from '../../storages/index.ts';
import { createAccountMeter } from './account-meter.ts';

test('files, package caches and histories of an account all count, and those of another do not', async () => {
  const [own, other] = [namespaceOf('acct_ann', 'ws_1'), namespaceOf('acct_bob', 'ws_2')];
  const kilobyte = (count: number) => 'x'.repeat(count * 1024);
  using data = makeDirectory({
    [`workspaces/${own}/a`]: kilobyte(64),
    [`workspaces/${other}/a`]: kilobyte(64),
    'history/one/store': kilobyte(128),
    'history/two/store': kilobyte(128),
  });
  const directory = data.at(`workspaces/${own}`);
  const cache = cacheDirectoryFor(data.at('caches'), directory);
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'a'), kilobyte(32));
  const measure = createAccountMeter({
    data: data.path,
    localWorkspaces: { directoryOf: (namespace: string) => data.at(`workspaces/${namespace}`) } as never,
    histories: { directoryFor: (of: string) => data.at(of === directory ? 'history/one' : 'history/two') } as never,
    layered: { forkDirectories: { find: () => undefined } } as never,
    workspacesOf: async (accountId) => (accountId === 'acct_ann' ? ['ws_1'] : ['ws_2']),
  });
  const [files, cached] = [await measureTree(directory), await measureTree(cache)];
  const history = await measureTree(data.at('history/one'));
  expect(await measure('acct_ann')).toEqual({ bytes: files + cached + history, historyBytes: history });
  expect(Math.min(files, cached, history)).toBeGreaterThan(30 * 1024);
});
