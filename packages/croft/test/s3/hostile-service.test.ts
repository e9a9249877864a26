import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createObjectStore } from '../../src/storages/s3/client/object-store.ts';
import { createS3HistoryStore } from '../../src/storages/s3/history/s3-history-store.ts';
import { readHead } from '../../src/storages/s3/layout/workspace-head.ts';
import { downloadWorkspace } from '../../src/storages/s3/mount/refresh/download-workspace.ts';
import { makeDirectory } from '../support/harness.ts';

/** A bucket at a hostile service: accounts choose the endpoint. */
async function startService(answer: RequestListener) {
  const service = createServer(answer).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const endpoint = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const settings = { bucket: 'bucket', region: 'us-east-1', prefix: '', allowPrivate: true };
  const credentials = { accessKeyId: 'id', secretAccessKey: 'key' };
  const objects = createObjectStore({ ...settings, endpoint, credentials, retries: { attempts: 1, firstPauseMs: 1 } });
  onTestFinished(() => {
    objects.close();
    service.closeAllConnections();
    service.close();
  });
  return objects;
}

test('a service that never ends its answer fills no memory', async () => {
  const piece = Buffer.alloc(1024 * 1024, ' ');
  let sent = 0;
  const objects = await startService((_, response) => {
    response.writeHead(200, { etag: '"e"', 'last-modified': new Date(0).toUTCString() });
    const more = () => {
      while (!response.destroyed && response.write(piece)) sent += piece.length;
    };
    response.on('drain', more);
    more();
  });
  const store = createS3HistoryStore({ objects, namespace: 'fs-1' });
  const refused = { code: 'E_STORAGE_FAILED' };
  await expect(readHead(objects, 'fs-1')).rejects.toMatchObject(refused);
  await expect(Array.fromAsync(objects.list('fs-1/'))).rejects.toMatchObject(refused);
  await expect(store.note('snapshot', 'one')).rejects.toMatchObject(refused);
  await expect(store.read('0'.repeat(64))).rejects.toMatchObject(refused);
  expect(sent).toBeLessThan(1024 ** 3);
});

test('a service that lists a name both as a link and as a directory does not get outside', async () => {
  const key = (name: string) =>
    `<Contents><Key>fs-1/${name}</Key><ETag>"e"</ETag><Size>4</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  for (const name of ['files', 'spool', 'outside']) mkdirSync(directory.at(name));
  const objects = await startService(({ url = '' }, response) => {
    if (url.includes('list-type'))
      return response.end(`<ListBucketResult>${['a', 'a', 'a/b'].map(key).join('')}</ListBucketResult>`);
    const [kind, body] = url.endsWith('/a') ? ['link', directory.at('outside')] : ['file', 'evil'];
    response.writeHead(200, { etag: '"e"', 'content-length': body.length, 'x-amz-meta-croft-kind': kind });
    response.end(body);
  });
  const fixture = { objects, namespace: 'fs-1', spool: directory.at('spool'), warn() {}, progress() {} };
  await downloadWorkspace({ ...fixture, owner: undefined }, { directory: directory.at('files'), lazyBytes: 1000 });
  expect(readdirSync(directory.at('outside'))).toEqual([]);
});

const internalError = '<?xml version="1.0"?>\n<Error><Code>InternalError</Code><Message>later</Message></Error>';

test('an error after the status 200 is a failure, for a copy and for the end of an upload in parts', async () => {
  const seen: string[] = [];
  const objects = await startService((request, response) => {
    const { method, url = '' } = request;
    seen.push(`${method} ${url}`);
    request.resume().on('end', () => {
      if (url.includes('uploads=')) return response.end('<R><UploadId>an id</UploadId></R>');
      response.writeHead(200, { etag: '"e"' });
      response.end(url.includes('partNumber=') ? '' : internalError);
    });
  });
  const unavailable = { code: 'E_STORAGE_UNAVAILABLE', message: expect.stringContaining('InternalError') };
  await expect(objects.copy('a', 'b')).rejects.toMatchObject(unavailable);
  const bytes = Buffer.alloc(9 * 1024 * 1024);
  const put = objects.put('large', { size: bytes.length, open: () => bytes });
  await expect(put).rejects.toMatchObject(unavailable);
  expect(seen.at(-1)).toBe('DELETE /bucket/large?uploadId=an%20id');
});

test('a service that starts no multipart upload gets no part', async () => {
  const seen: string[] = [];
  const objects = await startService((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('<InitiateMultipartUploadResult/>');
  });
  const bytes = Buffer.alloc(9 * 1024 * 1024);
  const put = objects.put('large', { size: bytes.length, open: () => bytes });
  await expect(put).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  expect(seen).toEqual(['POST /bucket/large?uploads=']);
});

test('of a batch of deletes, only keys of the batch that the service names are deleted again', async () => {
  const single: string[] = [];
  const objects = await startService(({ method, url = '' }, response) => {
    if (method === 'DELETE') {
      single.push(url);
      return response.writeHead(204).end();
    }
    const failed = ['it&apos;s', 'of another', '&lt;b&gt;'].map((key) => `<Error><Key>${key}</Key></Error>`);
    response.end(`<DeleteResult>${failed.join('')}</DeleteResult>`);
  });
  await objects.remove(["it's", 'c', '<b>', 'd']);
  expect(single.sort()).toEqual(['/bucket/%3Cb%3E', '/bucket/it%27s']);
});

test('a service that answers a batch of deletes with anything else gets one delete per key', async () => {
  const single: string[] = [];
  const objects = await startService(({ method, url = '' }, response) => {
    if (method === 'DELETE') single.push(url);
    response.end();
  });
  await objects.remove(['a', 'b', 'c']);
  expect(single.sort()).toEqual(['/bucket/a', '/bucket/b', '/bucket/c']);
});
