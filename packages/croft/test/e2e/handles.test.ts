import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { connectHttp, croft, makeDirectory, structuredOf } from '../support/harness.ts';

test('a server without free file handles refuses a sandbox and goes on', async () => {
  using directory = makeDirectory();
  using data = makeDirectory();
  const token = 'test-token-of-sufficient-length';
  const child = spawn(
    'prlimit',
    ['--nofile=128', croft, 'serve', '--port', '0', '--data', data.path, '--workspace', directory.path],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_TOKEN: token },
    },
  );
  const exited = once(child, 'exit');
  try {
    const [words] = (await once(child.stdout, 'data')) as [Buffer];
    child.stdout.resume();
    const url = /listening on (\S+)/.exec(String(words))?.[1] ?? '';
    await using session = await connectHttp({ url, token });
    const run = (name: string) =>
      session.client.callTool({ name: 'bash', arguments: { command: 'true' }, _meta: { 'croft/session': name } });
    const codes: unknown[] = [];
    for (let index = 0; index < 128; index++) {
      codes.push(structuredOf(await run(`agent-${index}`)).error?.code);
    }
    expect(codes.filter((code) => code === undefined).length).toBeGreaterThan(30);
    expect(new Set(codes.filter((code) => code !== undefined))).toEqual(new Set(['E_SANDBOX_UNAVAILABLE']));
    expect(child.exitCode).toBeNull();
    expect(await run('agent-0')).toMatchObject({ structuredContent: { exitCode: 0 } });
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
});
