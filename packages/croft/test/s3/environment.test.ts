import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const listing = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
const copied = '<CopyObjectResult><ETag>"e"</ETag></CopyObjectResult>';

async function listen() {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    request.resume();
    response.end(request.method === 'GET' ? listing : copied);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Makes a home whose AWS files are pipes: opening one blocks for ever. */
function makeTrapHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'croft-test-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, '.aws'));
  for (const name of ['config', 'credentials', 'other']) execFileSync('mkfifo', [join(home, '.aws', name)]);
  return home;
}

const script = `
  const { createObjectStore } = await import(process.argv[1]);
  const [endpoint, bucket, region, prefix] = [process.argv[2], 'bucket', 'eu-west-1', 'p'];
  const credentials = { accessKeyId: 'ours', secretAccessKey: 'secret' };
  const store = createObjectStore({ endpoint, bucket, region, prefix, credentials, allowPrivate: true });
  for await (const page of store.list('')) console.log(page.length);
  await store.copy('a', 'b');
  await store.get('k');
  store.close();
`;

test('the environment and the home of the server give no AWS account', async () => {
  const [own, trap, home] = [await listen(), await listen(), makeTrapHome()];
  const theirs = {
    ...{ AWS_ACCESS_KEY_ID: 'theirs', AWS_SECRET_ACCESS_KEY: 'theirs', AWS_SESSION_TOKEN: 'theirs', AWS_PROFILE: 'x' },
    ...{
      AWS_REGION: 'us-west-2',
      AWS_DEFAULT_REGION: 'us-west-2',
      AWS_ENDPOINT_URL: trap.url,
      AWS_ENDPOINT_URL_S3: trap.url,
    },
    ...{ AWS_CA_BUNDLE: '/nowhere', AWS_MAX_ATTEMPTS: 'x', AWS_RETRY_MODE: 'x', AWS_DEFAULTS_MODE: 'auto' },
    ...{ AWS_USE_FIPS_ENDPOINT: 'true', AWS_USE_DUALSTACK_ENDPOINT: 'true', AWS_S3_USE_ARN_REGION: 'x' },
    ...{ AWS_REQUEST_CHECKSUM_CALCULATION: 'x', AWS_RESPONSE_CHECKSUM_VALIDATION: 'x', AWS_SDK_UA_APP_ID: 'theirs' },
    ...{
      AWS_SIGV4A_SIGNING_REGION_SET: 'x',
      AWS_AUTH_SCHEME_PREFERENCE: 'sigv4a',
      AWS_CONFIG_FILE: join(home, '.aws/other'),
    },
    ...{ HTTP_PROXY: trap.url, HTTPS_PROXY: trap.url, http_proxy: trap.url, ALL_PROXY: trap.url },
  };
  const module = join(import.meta.dirname, '../../src/storages/s3/client/object-store.ts');
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script, module, own.url];
  const env = { PATH: process.env.PATH, HOME: home, ...theirs };
  const { stdout } = await run(process.execPath, args, { env, timeout: 25_000, killSignal: 'SIGKILL' });
  expect(stdout).toBe('0\n');
  expect(trap.seen).toHaveLength(0);
  expect(own.seen.map(({ method }) => method)).toEqual(['GET', 'PUT', 'GET']);
  for (const { headers } of own.seen) {
    expect(headers.authorization).toMatch(/Credential=ours\/\d+\/eu-west-1\/s3\/aws4_request/);
    expect(JSON.stringify(headers)).not.toContain('theirs');
  }
});
