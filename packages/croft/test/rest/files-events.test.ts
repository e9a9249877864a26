import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { FileEvent } from '@croft/protocol';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createChangeFeed } from '../../src/core/content/changes/change-feed.ts';
import { createChangeFeeds } from '../../src/core/content/changes/change-feeds.ts';
import type { FileAccess } from '../../src/core/content/changes/file-access.ts';
import { openFilesFixture, type RestFilesFixture } from './files-fixture.ts';
import { codeOf } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let at: RestFilesFixture;
const patience = { timeout: 40_000, interval: 50 };

beforeAll(async () => {
  at = await openFilesFixture();
});
afterAll(() => at[Symbol.asyncDispose]());

type Reported = FileEvent & { readonly id?: string };

/** A feed as it comes, until it is disposed of. */
async function follow(fixture = at, lastId?: string, token = fixture.token) {
  const stop = new AbortController();
  const response = await fetch(`${fixture.fixture.url}${fixture.root}/events`, {
    signal: stop.signal,
    headers: { authorization: `Bearer ${token}`, ...(lastId !== undefined && { 'last-event-id': lastId }) },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events: Reported[] = [];
  const ended = read(response, events).catch(() => 'cut' as const);
  return {
    events,
    ended,
    told: (type: string, path: string) => events.some((event) => event.type === type && event.path === path),
    [Symbol.dispose]: () => stop.abort(),
  };
}

async function read(response: Response, events: Reported[]): Promise<'ended'> {
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const data = /^data: (.*)$/m.exec(part)?.[1];
      const id = /^id: (.*)$/m.exec(part)?.[1];
      if (data !== undefined) events.push({ ...JSON.parse(data), ...(id !== undefined && { id }) });
    }
  }
  return 'ended';
}

describe('a feed of changes', () => {
  test('reports changes by REST and by programs to every reader, without .git and node_modules', async () => {
    using one = await follow();
    using two = await follow();
    await at.put('dir/a.txt', 'one');
    execFileSync(
      'sh',
      ['-c', 'echo x > b.txt; mkdir -p .git node_modules/x; echo y > .git/y; echo z > node_modules/x/z'],
      {
        cwd: at.directory,
      },
    );
    for (const feed of [one, two]) {
      await vi.waitFor(
        () => expect(feed.told('create', 'dir/a.txt') && feed.told('create', 'b.txt')).toBe(true),
        patience,
      );
    }
    appendFileSync(at.at('b.txt'), 'more');
    await vi.waitFor(() => expect(one.told('write', 'b.txt')).toBe(true), patience);
    await at.json('POST', '/files/rename', { from: 'b.txt', to: 'c.txt' });
    await vi.waitFor(() => expect(one.told('remove', 'b.txt') && one.told('create', 'c.txt')).toBe(true), patience);
    rmSync(at.at('dir'), { recursive: true });
    await vi.waitFor(() => expect(one.told('remove', 'dir/a.txt')).toBe(true), patience);
    const paths = [...one.events, ...two.events].map(({ path = '' }) => path);
    expect(paths.filter((path) => /\.git|node_modules|croft-tmp/.test(path))).toEqual([]);
    expect(one.events.every(({ ts }) => Math.abs(Date.parse(ts) - Date.now()) < 120_000)).toBe(true);
  });

  test('resumes after the last seen event, and says so if it cannot', async () => {
    let last: string | undefined;
    {
      using feed = await follow();
      writeFileSync(at.at('seen.txt'), 'x');
      await vi.waitFor(() => expect(feed.told('create', 'seen.txt')).toBe(true), patience);
      last = feed.events.at(-1)?.id;
    }
    writeFileSync(at.at('missed.txt'), 'x');
    using again = await follow(at, last);
    await vi.waitFor(() => expect(again.told('create', 'missed.txt')).toBe(true), patience);
    expect(again.told('create', 'seen.txt')).toBe(false);
    for (const unknown of ['of-another-server-5', `${last}999`, 'nonsense']) {
      using lost = await follow(at, unknown);
      await vi.waitFor(() => expect(lost.events.map(({ type }) => type)).toContain('reset'), patience);
    }
  });

  test('ends when its key is revoked, and when its workspace is removed', async () => {
    await using other = await openFilesFixture();
    const { key, secret } = await other.newKey('reader', ['read']);
    using lent = await follow(other, undefined, secret);
    using own = await follow(other);
    await other.fixture.send('DELETE', `/v1/keys/${key.keyId}`, { token: other.token });
    await vi.waitFor(async () => expect(await Promise.race([lent.ended, 'open'])).toBe('ended'), patience);
    expect(await Promise.race([own.ended, 'open'])).toBe('open');
    await other.fixture.send('DELETE', other.root, { token: other.token });
    await vi.waitFor(async () => expect(await Promise.race([own.ended, 'open'])).toBe('ended'), patience);
  });

  test('is refused to a key without the scope, to another account, and for a workspace that cannot be watched', async () => {
    const { secret } = await at.newKey('caller', ['call']);
    expect(await at.fixture.send('GET', `${at.root}/events`, { token: secret })).toMatchObject({ status: 403 });
    const bob = await at.fixture.addAccount('bob');
    expect(await at.fixture.send('GET', `${at.root}/events`, { token: bob.token })).toMatchObject({ status: 404 });
    await using blind = await openFilesFixture({ wrapFileAccess: ({ watch: _, ...access }) => access });
    expect(codeOf(await blind.json('GET', '/events'))).toBe('E_NOT_FOUND');
  });

  test('of a slow reader uses no memory, and the reader learns that events were lost', async () => {
    const stop = new AbortController();
    const response = await fetch(`${at.fixture.url}${at.root}/events`, {
      signal: stop.signal,
      headers: { authorization: `Bearer ${at.token}` },
    });
    const folder = `${'deep'.repeat(60)}/${'deeper'.repeat(40)}`;
    mkdirSync(at.at(folder), { recursive: true });
    using fast = await follow();
    // Each round fits into the ring; all of them are more than the sockets between hold.
    for (let round = 0; round < 30; round++) {
      for (let index = 0; index < 500; index++)
        writeFileSync(at.at(`${folder}/${'n'.repeat(200)}${index}`), `${round}`);
      writeFileSync(at.at(`mark${round}`), 'x');
      await vi.waitFor(() => expect(fast.told('create', `mark${round}`)).toBe(true), patience);
    }
    expect(fast.events.map(({ type }) => type)).not.toContain('reset');
    const events: Reported[] = [];
    void read(response, events).catch(() => {});
    await vi.waitFor(() => expect(events.map(({ type }) => type)).toContain('reset'), patience);
    expect(events.length).toBeLessThan(fast.events.length);
    stop.abort();
  });
});

describe('the ring of a feed', () => {
  const change = (path: string) => ({ type: 'write' as const, path });

  test('gives each reader everything once and in order, whatever their pace, or says that it cannot', () => {
    const feed = createChangeFeed({ name: 'f', now: () => new Date(), size: 50 });
    const readers = [1, 3, 10].map((pace) => ({
      pace,
      cursor: feed.enter(undefined),
      seen: [] as number[],
      resets: 0,
    }));
    let count = 0;
    for (let step = 0; step < 500; step++) {
      feed.push(Array.from({ length: step % 7 }, () => change(String(count++))));
      for (const reader of readers) {
        if (step % reader.pace !== 0) continue;
        const batch = feed.take(reader.cursor);
        if (batch?.isReset) reader.resets += 1;
        for (const { change: reported } of batch?.changes ?? []) reader.seen.push(Number(reported.path));
      }
    }
    for (const { seen, resets } of readers) {
      expect(seen).toEqual([...seen].sort((one, other) => one - other));
      expect(new Set(seen).size).toBe(seen.length);
      if (resets === 0) expect(seen).toEqual(Array.from({ length: seen.length }, (_, index) => index));
    }
    expect(readers[0]?.resets).toBe(0);
    expect(readers[2]?.seen.length).toBeLessThanOrEqual(count);
  });

  test('reports lost events once to a slow reader, and continues', () => {
    const feed = createChangeFeed({ name: 'f', now: () => new Date(), size: 10 });
    const cursor = feed.enter(undefined);
    feed.push(Array.from({ length: 11 }, (_, index) => change(String(index))));
    expect(feed.take(cursor)).toMatchObject({ isReset: true, changes: [] });
    expect(feed.take(cursor)).toBeUndefined();
    feed.push([change('next')]);
    expect(feed.take(cursor)).toMatchObject({ isReset: false, changes: [{ change: { path: 'next' } }] });
  });
});

describe('the feeds of one owner', () => {
  const access = (watch: NonNullable<FileAccess['watch']>): FileAccess => ({
    ...({} as FileAccess),
    access: 'read-write',
    watch,
  });
  const open = (lingerMs = 0) =>
    createChangeFeeds({ perOwner: 3, now: () => new Date(), newName: () => 'name', lingerMs });

  test('share one watcher, are limited in number, and stop it after the last', async () => {
    const signals: AbortSignal[] = [];
    const watched = access(async (_, signal) => void signals.push(signal));
    const feeds = open();
    const joined = [await feeds.join('ann', 'w', watched), await feeds.join('ann', 'w', watched)];
    joined.push(await feeds.join('ann', 'other', watched));
    expect(signals).toHaveLength(2);
    await expect(feeds.join('ann', 'w', watched)).rejects.toMatchObject({ code: 'E_TOO_MANY' });
    joined.push(await feeds.join('bob', 'w', watched));
    joined[0]?.[Symbol.dispose]();
    joined[0]?.[Symbol.dispose]();
    joined.push(await feeds.join('ann', 'w', watched));
    await expect(feeds.join('ann', 'w', watched)).rejects.toMatchObject({ code: 'E_TOO_MANY' });
    for (const one of joined) one[Symbol.dispose]();
    await vi.waitFor(() => expect(signals.every(({ aborted }) => aborted)).toBe(true), patience);
  });

  test('fail if the watcher cannot start, and the next request tries again', async () => {
    let tries = 0;
    const feeds = open(60_000);
    const failing = access(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no watches left');
    });
    await expect(feeds.join('ann', 'w', failing)).rejects.toThrow('no watches left');
    using joined = await feeds.join('ann', 'w', failing);
    expect(joined.feed).toBeDefined();
    feeds.close();
  });
});
