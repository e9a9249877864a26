import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createWebhook, type WebhookOptions } from '../../src/lib/net/webhook.ts';

const secret = 'a secret of the receiver';
const pausesMs = [10, 20];

interface Post {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A real receiver that answers with `answer`, and a webhook to it. */
async function start(answer: (response: ServerResponse, count: number) => void, options: Partial<WebhookOptions> = {}) {
  const posts: Post[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    posts.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    answer(response, posts.length);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const onLost = vi.fn<(reason: string) => void>();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const webhook = createWebhook({ url, secret, fetch, now: () => new Date(), onLost, pausesMs, ...options });
  onTestFinished(() => {
    webhook.close();
    server.closeAllConnections();
    server.close();
  });
  return { webhook, posts, onLost, server };
}

const answerWith = (status: number) => (response: ServerResponse) => void response.writeHead(status).end('{}');
const message = { type: 'approval.requested', approval: { approvalId: 'ap_1', preview: 'é' } };

test('the receiver can verify the signature with the secret', async () => {
  const { webhook, posts, onLost } = await start(answerWith(204));
  webhook.send(message);
  await vi.waitFor(() => expect(posts).toHaveLength(1));
  const [{ method, url, headers, body }] = posts as [Post];
  expect([method, url, headers['content-type'], JSON.parse(body)]).toEqual([
    'POST',
    '/hook',
    'application/json',
    message,
  ]);
  const [, seconds, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['croft-signature'])) ?? [];
  expect(given).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(60);
  expect(onLost).not.toHaveBeenCalled();
});

test('a message is tried three times, and then dropped', async () => {
  const { webhook, posts, onLost } = await start(answerWith(500));
  webhook.send(message);
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledExactlyOnceWith('it answered 500'));
  expect(posts).toHaveLength(3);
  expect(new Set(posts.map(({ body }) => body))).toHaveLength(1);
});

test('a message is not sent again after it was accepted', async () => {
  const { webhook, posts, onLost } = await start((response, count) => answerWith(count === 1 ? 503 : 200)(response));
  webhook.send(message);
  await vi.waitFor(() => expect(posts).toHaveLength(2));
  webhook.send({ type: 'last' });
  await vi.waitFor(() => expect(posts).toHaveLength(3));
  expect(posts.map(({ body }) => JSON.parse(body).type)).toEqual(['approval.requested', 'approval.requested', 'last']);
  expect(onLost).not.toHaveBeenCalled();
});

test('a redirect is not followed', async () => {
  const elsewhere = await start(answerWith(200));
  const port = (elsewhere.server.address() as AddressInfo).port;
  const { webhook, onLost } = await start((response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
  });
  webhook.send(message);
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledWith('it answered 307'));
  expect(elsewhere.posts).toEqual([]);
});

test('a receiver that does not answer times out, and the sender does not wait for it', async () => {
  const { webhook, posts, onLost } = await start(() => {}, { timeoutMs: 1000 });
  webhook.send(message);
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledWith('it did not answer in time'));
  expect(posts).toHaveLength(3);
});

test('a receiver that never ends its answer has accepted the message', async () => {
  const { webhook, posts, onLost } = await start((response) => void response.writeHead(200).write('x'), {
    timeoutMs: 60_000,
  });
  for (let count = 0; count < 8; count += 1) webhook.send(message);
  await vi.waitFor(() => expect(posts).toHaveLength(8));
  expect(onLost).not.toHaveBeenCalled();
});

test('a missing receiver is reported, and nothing throws', async () => {
  const { webhook, onLost } = await start(answerWith(200), { url: 'http://127.0.0.1:1/' });
  webhook.send(message);
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledOnce());
});

test('a few messages are in progress, a few hundred wait, and the rest is dropped at once', async () => {
  const open: ServerResponse[] = [];
  const { webhook, onLost } = await start((response) => void open.push(response));
  for (let count = 0; count < 300; count += 1) webhook.send(message);
  expect(onLost).toHaveBeenCalledTimes(300 - 204);
  await vi.waitFor(() => expect(open).toHaveLength(4));
  for (let done = 0; done < 204; ) {
    await vi.waitFor(() => expect(open.length).toBeGreaterThan(done), { interval: 1 });
    const current = open.slice(done);
    expect(current.length).toBeLessThanOrEqual(4);
    for (const response of current) response.end();
    done += current.length;
  }
});

test('nothing is sent after close, and messages in progress are aborted', async () => {
  const { webhook, posts, onLost } = await start(() => {});
  webhook.send(message);
  await vi.waitFor(() => expect(posts).toHaveLength(1));
  webhook.close();
  webhook.send(message);
  const other = await start(answerWith(200));
  other.webhook.send(message);
  await vi.waitFor(() => expect(other.posts).toHaveLength(1));
  expect(posts).toHaveLength(1);
  expect(onLost).not.toHaveBeenCalled();
});
