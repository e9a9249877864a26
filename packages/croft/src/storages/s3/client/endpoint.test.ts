import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { toEndpoint } from './endpoint.ts';
import { createObjectStore } from './object-store.ts';

const base = { bucket: 'my-bucket', region: 'eu-west-1' };
const credentials = { accessKeyId: 'AK', secretAccessKey: 'SK' };
const urlOf = (options: Partial<Parameters<typeof toEndpoint>[0]>) =>
  toEndpoint({ ...base, ...options }).bucketUrl.href;

test('a bucket is at its AWS address, or at its endpoint', () => {
  expect(urlOf({})).toBe('https://my-bucket.s3.eu-west-1.amazonaws.com/');
  expect(urlOf({ bucket: 'my.bucket' })).toBe('https://s3.eu-west-1.amazonaws.com/my.bucket');
  expect(urlOf({ region: 'cn-north-1' })).toBe('https://my-bucket.s3.cn-north-1.amazonaws.com.cn/');
  expect(urlOf({ endpoint: 'https://s3.example.com' })).toBe('https://s3.example.com/my-bucket');
  expect(urlOf({ endpoint: 'https://example.com/storage/v1/s3/' })).toBe('https://example.com/storage/v1/s3/my-bucket');
  expect(urlOf({ endpoint: 'https://s3.example.com', forcePathStyle: false })).toBe(
    'https://my-bucket.s3.example.com/',
  );
  expect(urlOf({ endpoint: 'http://127.0.0.1:9000', allowPrivate: true })).toBe('http://127.0.0.1:9000/my-bucket');
});

test.each([
  ...['http://s3.example.com', 'ftp://s3.example.com', 'file:///etc/passwd', 's3.example.com', '', '//x'],
  ...['https://127.0.0.1', 'https://[::1]', 'https://10.0.0.1', 'https://169.254.169.254', 'https://[::ffff:7f00:1]'],
  ...['https://2130706433', 'https://0x7f.1', 'https://0', 'https://192.168.1.1:8443', 'https://[fd00::1]'],
  ...['https://user:pw@s3.example.com', 'https://s3.example.com?x=1', 'https://s3.example.com#x'],
])('an account may not use %s', (endpoint) => {
  expect(() => toEndpoint({ ...base, endpoint })).toThrow(expect.objectContaining({ code: 'E_INVALID_INPUT' }));
});

test.each([
  ...[
    'http://169.254.169.254',
    'https://169.254.169.254',
    'http://[fd00:ec2::254]',
    'http://8.8.8.8',
    'http://0.0.0.0',
  ],
])('nobody may use %s, whatever the operator allows', (endpoint) => {
  const options = { ...base, endpoint, allowPrivate: true };
  expect(() => toEndpoint(options)).toThrow(expect.objectContaining({ code: 'E_INVALID_INPUT' }));
});

test.each([
  { region: 'evil.example.com/#' },
  { region: 'x@evil' },
  { region: '' },
  { bucket: '../x' },
  { bucket: 'a/b' },
  { bucket: 'evil.com#' },
  { bucket: 'a..b' },
  { bucket: '' },
])('a region or a bucket name cannot change the host: %j', (settings) => {
  expect(() => toEndpoint({ ...base, ...settings })).toThrow(expect.objectContaining({ code: 'E_INVALID_INPUT' }));
});

test('a name that resolves to this machine is refused, and the error does not contain the address', async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const settings = { ...base, endpoint: `https://localhost:${port}`, prefix: '', credentials };
  const store = createObjectStore(settings);
  onTestFinished(() => store.close());
  for (const attempt of [() => store.get('k'), () => store.copy('a', 'b'), () => store.probe()]) {
    const thrown = await attempt().catch((reason) => reason);
    expect(thrown).toMatchObject({ code: 'E_STORAGE_FAILED', message: expect.stringContaining('not allowed') });
    expect(JSON.stringify([thrown, thrown.message])).not.toMatch(/127|localhost|::1/);
  }
  expect(asked).toBe(0);
});
