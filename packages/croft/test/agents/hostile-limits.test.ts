import { existsSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createAgentSessions } from '../../src/app/agents/agent-sessions.ts';
import { findIdleRuntimes } from '../../src/app/agents/find-stale-runtimes.ts';
import { createSession, type Session } from '../../src/core/sessions/session.ts';
import type { SessionStore } from '../../src/core/sessions/session-store.ts';
import { measureTree } from '../../src/lib/disk-space/measure-tree.ts';
import { cacheDirectoryFor } from '../../src/lib/files/cache-directory.ts';
import { createConnectionLimit } from '../../src/mcp/http/connection-limit.ts';
import { openRecords } from '../../src/records/index.ts';
import { createDataDirectory } from '../../src/storages/data-directory.ts';
import { makeDirectory } from '../support/harness.ts';
import { type Account, connectAgent, mustBe, startPlatform } from '../support/servers/platform.ts';
import { account, newAgent, platform } from './hostile-fixture.ts';

interface Remembered {
  readonly session: Session;
  readonly memory: SessionStore;
}

describe('the network of an account', () => {
  /** The answer of the server, directly and through the proxy. */
  async function reach(by: Account, url: string, config: object): Promise<string> {
    const sandbox = await by.newSandbox({ permissionMode: 'bypass', ...config });
    const workspaces = [{ name: 'w', workspaceId: await by.newWorkspace() }];
    const agentId = await by.newAgent({ sandbox, workspaces });
    const command = `curl -s -m 5 ${url}/healthz; curl -s -m 5 --noproxy '' -x "$http_proxy" ${url}/healthz; true`;
    return mustBe(200, await by.call(agentId, 'bash', { command })).output;
  }

  test('is not the network of this machine: no local server is reachable', async () => {
    const { port } = new URL(platform.url);
    for (const config of [
      { internet: true },
      { network: { mode: 'allow-all' } },
      { network: { mode: 'restricted', allowCidrs: [`127.0.0.1/32:${port}`, '127.0.0.0/8'] } },
    ])
      expect(await reach(account, platform.url, config)).not.toContain('"status":"ok"');
  });

  test('is the network of this machine if the operator allows it', async () => {
    await using open = await startPlatform(['--network', 'allow-all']);
    expect(await reach(await open.newAccount(), open.url, { internet: true })).toContain('"status":"ok"');
  });
});

describe('resources of one account', () => {
  test('a session of an unknown agent, or with unknown workspaces, is not stored', async () => {
    const { agentId } = await newAgent('bypass');
    const eve = await platform.newAccount('eve');
    for (const id of [agentId, 'agent_'.padEnd(30, '0'), 'x'.repeat(3000)])
      for (const answer of [
        await eve.send('POST', `/v1/agents/${id}/sessions`, {}),
        await eve.send('GET', `/v1/agents/${id}/sessions`),
      ])
        expect(answer).toMatchObject({ status: 404, body: { error: { message: 'Agent not found' } } });
    const workspaces = Array.from({ length: 10_000 }, (_, index) => `none-${index}`);
    expect((await account.send('POST', `/v1/agents/${agentId}/sessions`, { workspaces })).status).toBe(400);
  });

  test('package caches count against the quota and are removed with the workspace', async () => {
    const ann = await platform.newAccount('caching');
    const caches = () => readdirSync(join(platform.data, 'caches'));
    const before = caches();
    const sandbox = await ann.newSandbox({ permissionMode: 'bypass' });
    const command = 'head -c 1000000 /dev/urandom > ~/.cache/big && ls ~/.cache';
    const stateless = await ann.newAgent({ sandbox });
    mustBe(200, await ann.call(stateless, 'bash', { command: 'true' }));
    await expect.poll(caches).toEqual(before);

    const agentId = await ann.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId: await ann.newWorkspace() }] });
    expect(mustBe(200, await ann.call(agentId, 'bash', { command })).output).toContain('big');
    expect(caches()).toHaveLength(before.length + 1);
    const [namespace = ''] = readdirSync(join(platform.data, 'workspaces')).filter((name) => sizeOfCache(name) > 0);
    expect(namespace).not.toBe('');
    mustBe(200, await ann.send('DELETE', '/v1/account'));
    expect(caches()).toEqual(before);

    function sizeOfCache(name: string): number {
      const cache = cacheDirectoryFor(
        join(platform.data, 'caches'),
        realpathSync(join(platform.data, 'workspaces', name)),
      );
      return existsSync(join(cache, 'big')) ? 1 : 0;
    }
  });

  test('a session above the limit is refused before it does anything', async () => {
    using directory = makeDirectory();
    await using records = await openRecords({ file: join(directory.path, 'croft.db') });
    const sessions = createAgentSessions({ records, maxSessions: 1, now: () => new Date() });
    const owner = { accountId: 'acct_1', agentId: 'agent_1' };
    const none = { sandboxIdleMs: 1000, openSandbox: () => Promise.reject(new Error('none')) };
    const [first, second] = ['key_1/a', 'key_1/b'].map((id) => ({
      session: createSession(id, none),
      memory: sessions.memoryOf(owner, id),
    })) as [Remembered, Remembered];
    await first.memory.refresh(first.session);
    await first.memory.save(first.session);
    await first.memory.refresh(first.session);
    await expect(second.memory.refresh(second.session)).rejects.toMatchObject({ code: 'E_QUOTA' });
  });

  test('empty files count too, also behind very many others', async () => {
    using directory = makeDirectory();
    for (const name of ['a', 'b', 'c']) writeFileSync(join(directory.path, name), '');
    expect(await measureTree(directory.path)).toBeGreaterThanOrEqual(3 * 4096);
    expect(await measureTree(directory.path, 3)).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(await measureTree(directory.path, 2)).toBe(Number.POSITIVE_INFINITY);
  });

  test('the error for an unknown tool cuts a long name', async () => {
    const { agentId } = await newAgent('bypass');
    // Clients of 2026 say it in a header as well, which is cut off long before.
    await using agent = await connectAgent(account, agentId, { era: '2025' });
    expect((await agent.call('x'.repeat(1_000_000))).text.length).toBeLessThan(1000);
  });

  test('above the limit of runtimes, idle ones are closed first, the longest idle before others', () => {
    const toEntry = (key: string) => [key, { runtime: { isIdle: () => key.startsWith('idle') } }] as const;
    const keysOf = (names: string[], max: number) => findIdleRuntimes(names.map(toEntry), max).map(([key]) => key);
    expect(keysOf(['busy-1', 'idle-1', 'busy-2', 'idle-2', 'idle-3'], 4)).toEqual(['idle-1']);
    expect(keysOf(['busy-1', 'idle-1', 'idle-2'], 0)).toEqual(['idle-1']);
    expect(keysOf(['idle-1', 'idle-2'], 2)).toEqual([]);
  });

  test('above the limit of 2025 connections, the longest idle one is closed', () => {
    const closed: number[] = [];
    const room = createConnectionLimit(2);
    const connections = [0, 1, 2, 3].map((number) => ({ close: async () => void closed.push(number) }));
    for (const index of [0, 1, 0, 2, 3]) room.use(connections[index] as (typeof connections)[number]);
    expect(closed).toEqual([1, 0]);
  });
});

test('handles of removed workspaces are closed later, not at once', async () => {
  using directory = makeDirectory();
  const kept = createDataDirectory(directory.path);
  const { handle } = kept.open('fs-0123456789', 'w');
  const isOpen = () => isLinkTo(`/proc/self/fd/${handle}`, 'fs-0123456789');
  await kept.remove('fs-0123456789');
  kept.closeGone();
  expect(isOpen()).toBe(true);
  kept.closeGone();
  expect(isOpen()).toBe(false);
});

function isLinkTo(path: string, part: string): boolean {
  try {
    return readlinkSync(path).includes(part);
  } catch {
    return false;
  }
}
