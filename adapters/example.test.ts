import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory } from '../packages/croft/test/support/harness.ts';
import { startPlatform } from '../packages/croft/test/support/servers/platform.ts';

/** The program of somebody who has installed its packages: here they are beside this file. */
test('examples/ai-sdk runs, with a model for tests instead of one over the network', async () => {
  await using platform = await startPlatform();
  using home = makeDirectory();
  const account = await platform.newAccount();
  const program = join(import.meta.dirname, `.write-greeting-${process.pid}.ts`);
  cpSync(join(import.meta.dirname, '../examples/ai-sdk/write-greeting.ts'), program);
  try {
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: home.path, CROFT_SERVER: platform.url, CROFT_KEY: account.secret };
    const args = ['--import', join(import.meta.dirname, 'scripted-provider.ts'), program];
    expect(execFileSync(process.execPath, args, { env, encoding: 'utf8' })).toBe('hello is there\n');
  } finally {
    rmSync(program);
  }
});
