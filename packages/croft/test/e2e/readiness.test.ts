import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

type Server = Awaited<ReturnType<typeof startServer>>;

async function ask({ url }: Pick<Server, 'url'>, path = '/readyz') {
  const answer = await fetch(url + path);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  return { status: answer.status, body: (await answer.json()) as any };
}

function outagesIn(file: string) {
  if (!existsSync(file)) return [];
  const events = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return events.filter(({ event }) => event === 'lifecycle.server.outage').map(({ fields }) => fields);
}

const linesIn = ({ output }: Server, words: string) =>
  output
    .stderr()
    .split('\n')
    .filter((line) => line.includes(words));

describe.skipIf(!postgres)('a server whose PostgreSQL', () => {
  test('hangs or dies is alive but not ready, and records the beginning and the end of each outage once', async () => {
    using fixture = makeDirectory();
    const events = fixture.at('events');
    const args = ['--workspace', fixture.path, '--database-url', await postgres!.createDatabase(), '--events', events];
    await using server = await startServer(args);
    expect(await ask(server)).toMatchObject({
      status: 200,
      body: { status: 'ready', dependencies: { records: { status: 'ok' }, disk: { status: 'ok' } } },
    });

    postgres!.hang();
    const frozenAt = performance.now();
    // Nobody asks: the server finds out by itself.
    await vi.waitFor(() => expect(outagesIn(events)).toHaveLength(1), { interval: 50 });
    expect(performance.now() - frozenAt).toBeLessThan(15_000);
    expect(await ask(server)).toMatchObject({
      status: 503,
      body: {
        status: 'not_ready',
        dependencies: {
          disk: { status: 'ok' },
          records: { status: 'failed', reason: expect.stringMatching(/answer/) },
        },
      },
    });
    expect(await ask(server, '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    postgres!.resume();
    await vi.waitFor(async () => expect(await ask(server)).toMatchObject({ status: 200 }), { interval: 200 });

    await postgres!.crash();
    await vi.waitFor(() => expect(outagesIn(events)).toHaveLength(3), { interval: 50 });
    const down = await ask(server);
    expect(down).toMatchObject({ status: 503, body: { dependencies: { records: { status: 'failed' } } } });
    const words = JSON.stringify(down.body) + server.output.stderr() + readFileSync(events, 'utf8');
    expect(words).not.toMatch(/secret-of-the-url|127\.0\.0\.1:\d|postgres:\/\//);
    await postgres!.start();
    await vi.waitFor(async () => expect(await ask(server)).toMatchObject({ status: 200 }), { interval: 200 });

    const reported = outagesIn(events);
    expect(reported.map(({ dependency, state }) => `${dependency} ${state}`)).toEqual(
      ['began', 'ended', 'began', 'ended'].map((state) => `records ${state}`),
    );
    expect(reported[1].duration_ms).toBeGreaterThan(0);
    expect([linesIn(server, 'not ready: records'), linesIn(server, 'ready again: records')]).toMatchObject([
      { length: 2 },
      { length: 2 },
    ]);
  });
});

test('a hanging bucket makes the server not ready, and many concurrent probes ask the bucket once a second', async () => {
  let [asked, hangs] = [0, false];
  const empty = '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
  const bucket = createServer((_, response) => {
    asked += 1;
    if (!hangs) response.setHeader('content-type', 'application/xml').end(empty);
  });
  await once(bucket.listen(0, '127.0.0.1'), 'listening');
  using fixture = makeDirectory();
  await using server = await startServer(['--workspace', fixture.path], {
    env: {
      CROFT_S3_BUCKET: 'test-bucket',
      CROFT_S3_ENDPOINT: `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`,
      CROFT_S3_ACCESS_KEY_ID: 'key',
      CROFT_S3_SECRET_ACCESS_KEY: 'secret-of-the-bucket',
    },
  });
  const [before, startedAt] = [asked, performance.now()];
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(server)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(asked - before).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 1000);

  hangs = true;
  await vi.waitFor(async () => expect(await ask(server)).toMatchObject({ status: 503 }), { interval: 200 });
  const { dependencies } = (await ask(server)).body;
  expect(dependencies.bucket).toMatchObject({ status: 'failed', reason: expect.stringContaining('3 seconds') });
  expect(JSON.stringify(dependencies)).not.toMatch(/secret-of|127\.0\.0\.1/);
  hangs = false;
  await vi.waitFor(async () => expect(await ask(server)).toMatchObject({ status: 200 }), { interval: 200 });
  bucket.closeAllConnections();
  bucket.close();
});

test.skipIf(process.getuid?.() !== 0)('a full disk makes the server not ready until there is space', async () => {
  using fixture = makeDirectory({ 'work/a': '', 'data/a': '' });
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', fixture.at('data')]);
  await using server = await startServer([
    ...['--workspace', fixture.at('work'), '--data', fixture.at('data'), '--min-free', '64m'],
  ]);
  expect((await ask(server)).status).toBe(200);
  execFileSync('fallocate', ['-l', '80m', fixture.at('data/full')]);
  await server.output.find(/not ready: disk: the disk of the data directory has \d+ MB free/);
  expect(await ask(server)).toMatchObject({ status: 503, body: { dependencies: { disk: { status: 'failed' } } } });
  rmSync(fixture.at('data/full'));
  await server.output.find(/ready again: disk/);
  expect((await ask(server)).status).toBe(200);
});

test('a request with another host name is refused', async () => {
  using fixture = makeDirectory();
  await using server = await startServer(['--workspace', fixture.path]);
  const evil = await fetch(`${server.url}/readyz`, { headers: { origin: 'https://evil.example' } });
  expect(evil.status).toBe(403);
});
