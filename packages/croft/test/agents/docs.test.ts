import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startPlatform } from '../support/servers/platform.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/accounts.md'), 'utf8');

function hasJq(): boolean {
  try {
    execFileSync('jq', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test.skipIf(!hasJq())('the commands of docs/accounts.md lead from an empty server to a call (needs jq)', async () => {
  await using platform = await startPlatform([], { CROFT_ADMIN_TOKEN: '' });
  const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  expect(script).toContain('/tools/write');
  const own = script
    .replace('http://127.0.0.1:7070', platform.url)
    .replace('~/.local/share/croft/admin-token', join(platform.data, 'admin-token'));
  const { stdout } = await promisify(execFile)('bash', ['-euc', own]);
  expect(JSON.parse(stdout)).toMatchObject({ approval: { tool: 'write', state: 'pending' } });
});
