import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { makeDirectory, runCroft } from './harness.ts';

export const run = promisify(execFile);

/** Makes a home with fetched packages, and a workspace that needs them. */
export function makePerson(tree: Record<string, string>) {
  const fixture = makeDirectory({ 'home/empty': '', ...tree });
  onTestFinished(() => fixture[Symbol.dispose]());
  const [workspace, home] = [fixture.at('workspace'), fixture.at('home')];
  const env = { PATH: process.env.PATH ?? '', HOME: home, CROFT_DATA: fixture.at('data') };
  return {
    ...fixture,
    workspace,
    home,
    onHost: (argv: readonly [string, ...string[]], more = {}) =>
      run(argv[0], argv.slice(1), { cwd: workspace, env: { ...env, ...more } }),
    bash: async (command: string, more = {}) => {
      const input = JSON.stringify({ command });
      return (await runCroft(['tool', 'bash', input, '--workspace', workspace], { env: { ...env, ...more } })).stdout;
    },
  };
}

/** Starts an npm registry with one package on this machine. */
export async function startRegistry(headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = makeDirectory({
    'package/package.json': '{"name":"@private/one","version":"1.0.0","main":"index.js"}',
    'package/index.js': 'module.exports = "from the cache";',
  });
  onTestFinished(() => directory[Symbol.dispose]());
  await run('tar', ['-czf', directory.at('one.tgz'), '-C', directory.path, 'package']);
  const tarball = readFileSync(directory.at('one.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const url: string = await startWeb(
    {
      '/one.tgz': () => tarball,
      '/@private%2fone': () => {
        const dist = { tarball: `${url}/one.tgz`, integrity };
        const versions = { '1.0.0': { name: '@private/one', version: '1.0.0', dist } };
        return JSON.stringify({ name: '@private/one', 'dist-tags': { latest: '1.0.0' }, versions });
      },
    },
    headers,
  );
  return url;
}

/** Starts a web server on this machine with these files. */
export async function startWeb(
  files: Readonly<Record<string, () => string | Buffer>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const content = files[url]?.();
    response
      .writeHead(content === undefined ? 404 : 200, { 'content-type': 'application/json', ...headers })
      .end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
