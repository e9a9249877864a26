import { describe, expect, test } from 'vitest';
import { type AccountsFixture, messageOf, openFixture, refusal } from './fixture.ts';

const noSandbox = `sb_${'0'.repeat(24)}`;
const noWorkspace = `ws_${'0'.repeat(24)}`;

async function addRecords({ registry, actor }: AccountsFixture, account = actor) {
  const sandbox = await registry.sandboxes.create(account, { name: 'sandbox' });
  const workspace = await registry.workspaces.create(account, { name: 'workspace' });
  return { sandbox: sandbox.id, workspace: workspace.id };
}

describe('an agent config', () => {
  test('keeps the settings of the caller', async () => {
    const fixture = await openFixture();
    const { workspace } = await addRecords(fixture);
    const config = {
      model: { id: 'm', on: true },
      workspaces: [{ name: 'w', workspaceId: workspace, note: [1] }],
      n: 1,
    };
    const made = await fixture.registry.agents.create(fixture.actor, { name: 'a', config });
    expect(made.config).toEqual(config);
  });

  test('is refused with these messages, and nothing changes', async () => {
    const refused = [
      [{ sandbox: '' }, 'config.sandbox must be a non-empty string'],
      [{ sandbox: null }, 'config.sandbox must be a non-empty string'],
      [{ sandbox: { id: 'x' } }, 'config.sandbox must be a non-empty string'],
      [{ workspaces: {} }, 'config.workspaces must be an array'],
      [{ workspaces: null }, 'config.workspaces must be an array'],
      [{ workspaces: 'x' }, 'config.workspaces must be an array'],
      [{ workspaces: ['x'] }, 'config.workspaces[0] must be an object'],
      [{ workspaces: [null] }, 'config.workspaces[0] must be an object'],
      [{ workspaces: [{ workspaceId: noWorkspace }] }, 'config.workspaces[0].name must be a non-empty string'],
      [
        { workspaces: [{ name: 'a/b', workspaceId: noWorkspace }] },
        'config.workspaces[0].name must use only letters, numbers, dots, underscores, or hyphens',
      ],
      [
        { workspaces: [{ name: 'a\n', workspaceId: noWorkspace }] },
        'config.workspaces[0].name must use only letters, numbers, dots, underscores, or hyphens',
      ],
      [
        { workspaces: [{ name: '..', workspaceId: noWorkspace }] },
        'config.workspaces[0].name must have more than dots',
      ],
      [{ workspaces: [{ name: 'a' }] }, 'config.workspaces[0].workspaceId must be a non-empty string'],
      [
        { workspaces: [{ name: 'a', workspaceId: noWorkspace, sandbox: '' }] },
        'config.workspaces[0].sandbox must be a non-empty string or null',
      ],
      [
        { workspaces: [{ name: 'a', workspaceId: noWorkspace, sandbox: 1 }] },
        'config.workspaces[0].sandbox must be a non-empty string or null',
      ],
      [
        { workspaces: ['a', 'b', 'a'].map((name) => ({ name, workspaceId: noWorkspace })) },
        'config.workspaces[2].name "a" is used more than once',
      ],
      [
        { workspaces: ['a', 'all'].map((name) => ({ name, workspaceId: noWorkspace })) },
        'config.workspaces[1].name "all" means every workspace; choose another name',
      ],
      [
        { workspaces: Array.from({ length: 101 }, (_, i) => ({ name: `n${i}`, workspaceId: noWorkspace })) },
        'config.workspaces must have at most 100 entries',
      ],
      [{ sandbox: noSandbox }, `Referenced sandbox not found: ${noSandbox}`],
      [{ sandbox: 'sb_x\0' }, 'Referenced sandbox not found: sb_x\0'],
      [
        { workspaces: [{ name: 'w', workspaceId: noWorkspace }] },
        `Referenced workspace not found: ${noWorkspace} (as "w")`,
      ],
    ] as const;
    const { registry, actor } = await openFixture();
    const agent = await registry.agents.create(actor, { name: 'agent' });
    for (const [config, message] of refused) {
      expect(await messageOf(registry.agents.create(actor, { name: 'other', config })), message).toBe(message);
      // In a patch, `null` deletes.
      if (JSON.stringify(config).includes(':null')) continue;
      expect(await messageOf(registry.agents.patch(actor, agent.id, { config }, {})), message).toBe(message);
    }
    expect(await registry.agents.get(actor, agent.id)).toEqual(agent);
    expect((await registry.agents.list(actor, { limit: 10 })).rows).toHaveLength(1);
  });

  test('cannot refer to another account, nor to a record of another kind', async () => {
    const fixture = await openFixture();
    const { registry, actor, stranger } = fixture;
    const mine = await addRecords(fixture);
    const theirs = await addRecords(fixture, stranger);
    const create = (config: object) => registry.agents.create(actor, { name: 'a', config });
    const workspaces = (workspaceId: string, sandbox?: string) => [
      { name: 'w', workspaceId, ...(sandbox && { sandbox }) },
    ];
    const sandboxGone = (id: string) => `Referenced sandbox not found: ${id}`;
    const workspaceGone = (id: string) => `Referenced workspace not found: ${id} (as "w")`;
    expect(await messageOf(create({ sandbox: theirs.sandbox }))).toBe(sandboxGone(theirs.sandbox));
    expect(await messageOf(create({ sandbox: mine.workspace }))).toBe(sandboxGone(mine.workspace));
    expect(await messageOf(create({ workspaces: workspaces(theirs.workspace) }))).toBe(workspaceGone(theirs.workspace));
    expect(await messageOf(create({ workspaces: workspaces(mine.sandbox) }))).toBe(workspaceGone(mine.sandbox));
    const crossed = { workspaces: workspaces(mine.workspace, theirs.sandbox) };
    expect(await messageOf(create(crossed))).toBe(sandboxGone(theirs.sandbox));
    await create({ sandbox: mine.sandbox, workspaces: workspaces(mine.workspace, mine.sandbox) });
    // Theirs are used by nobody, whatever was tried.
    await registry.sandboxes.remove(stranger, theirs.sandbox, {});
    await registry.workspaces.remove(stranger, theirs.workspace, {});
  });
});

describe('a record that an agent uses', () => {
  test('cannot be removed until the last agent drops it', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const { sandbox, workspace } = await addRecords(fixture);
    const reads = [{ name: 'w', workspaceId: workspace, sandbox: null }];
    const first = await registry.agents.create(actor, { name: 'first', config: { sandbox } });
    const second = await registry.agents.create(actor, { name: 'second', config: { workspaces: reads } });
    const third = await registry.agents.create(actor, {
      name: 'third',
      config: { workspaces: [{ name: 'w', workspaceId: workspace, sandbox }] },
    });
    const usersOf = async (attempt: Promise<unknown>) => {
      const { code, details, message } = await refusal(attempt);
      expect(code).toBe('E_IN_USE');
      const usedBy = details.usedBy as { id: string; name: string }[];
      for (const { id, name } of usedBy) expect(message).toContain(`${name} (${id})`);
      return usedBy.map(({ name }) => name).sort();
    };
    expect(await usersOf(registry.sandboxes.remove(actor, sandbox, {}))).toEqual(['first', 'third']);
    expect(await usersOf(registry.workspaces.remove(actor, workspace, {}))).toEqual(['second', 'third']);
    await registry.agents.patch(actor, first.id, { config: { sandbox: null } }, {});
    await registry.agents.patch(actor, third.id, { config: { workspaces: reads } }, {});
    await registry.sandboxes.remove(actor, sandbox, {});
    expect(await usersOf(registry.workspaces.remove(actor, workspace, {}))).toEqual(['second', 'third']);
    await registry.agents.remove(actor, second.id, {});
    await registry.agents.patch(actor, third.id, { config: { workspaces: [] } }, {});
    const users = await fixture.records.read(({ references }) => references.usersOf(actor.accountId, workspace, 10));
    expect(users).toEqual([]);
    await registry.workspaces.remove(actor, workspace, {});
  });

  test('is never left dangling by a concurrent creation and removal', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    for (let round = 0; round < 50; round += 1) {
      const sandbox = await registry.sandboxes.create(actor, { name: `s${round}` });
      const workspace = await registry.workspaces.create(actor, { name: `w${round}` });
      const config = { sandbox: sandbox.id, workspaces: [{ name: 'w', workspaceId: workspace.id }] };
      const attempts = [
        () => registry.agents.create(actor, { name: `a${round}`, config }),
        () => registry.sandboxes.remove(actor, sandbox.id, {}),
        () => registry.workspaces.remove(actor, workspace.id, {}),
      ];
      const order = round % 2 ? attempts : attempts.toReversed();
      const outcomes = await Promise.allSettled(order.map((attempt) => attempt()));
      const [made] = round % 2 ? outcomes : outcomes.toReversed();
      const left = await Promise.all([
        registry.sandboxes.open(actor.accountId, sandbox.id),
        registry.workspaces.open(actor.accountId, workspace.id),
      ]);
      const isWhole = left.every((record) => record !== undefined);
      expect(made?.status, `round ${round}`).toBe(isWhole ? 'fulfilled' : 'rejected');
    }
  });
});

describe('a provider that cannot mount', () => {
  const open = { provider: 'open', network: { mode: 'allow-all' } };

  test('is refused together with a workspace, and accepted without', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const { sandbox, workspace } = await addRecords(fixture);
    const bare = (await registry.sandboxes.create(actor, { name: 'bare', config: open })).id;
    const workspaces = (own?: object) => [{ name: 'notes', workspaceId: workspace, ...own }];
    const create = (name: string, config: object) => registry.agents.create(actor, { name, config });
    for (const config of [{ sandbox: bare, workspaces: workspaces() }, { workspaces: workspaces({ sandbox: bare }) }]) {
      const message = await messageOf(create('a', config));
      expect(message).toContain('"notes"');
      expect(message).toContain('provider open cannot show a workspace');
      expect(message).toContain('sandbox to null');
    }
    await create('alone', { sandbox: bare });
    await create('reads', { sandbox: bare, workspaces: workspaces({ sandbox: null }) });
    const { id } = await create('mounts', { sandbox: bare, workspaces: workspaces({ sandbox }) });
    // Letting go of its own sandbox, the workspace would be used through the agent’s.
    const message = await messageOf(registry.agents.patch(actor, id, { config: { workspaces: workspaces() } }, {}));
    expect(message).toContain('cannot show a workspace');
  });

  test('cannot replace the provider under agents that have workspaces', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const { sandbox, workspace } = await addRecords(fixture);
    const workspaces = [{ name: 'w', workspaceId: workspace }];
    const move = () => registry.sandboxes.patch(actor, sandbox, { config: open }, {});
    const { id } = await registry.agents.create(actor, { name: 'worker', config: { sandbox, workspaces } });
    const before = await registry.sandboxes.get(actor, sandbox);
    expect(await refusal(move())).toMatchObject({ code: 'E_IN_USE', details: { usedBy: [{ id, name: 'worker' }] } });
    expect(await registry.sandboxes.get(actor, sandbox)).toEqual(before);
    await registry.agents.patch(actor, id, { config: { workspaces: null } }, {});
    expect((await move()).config.provider).toBe('open');
    expect(await messageOf(registry.agents.patch(actor, id, { config: { workspaces } }, {}))).toContain('cannot show');
  });

  test('cannot replace the provider under an agent that is being made', async () => {
    const fixture = await openFixture();
    const { registry, actor } = fixture;
    const { workspace } = await addRecords(fixture);
    for (let round = 0; round < 15; round += 1) {
      const { id } = await registry.sandboxes.create(actor, { name: `s${round}` });
      const config = { sandbox: id, workspaces: [{ name: 'w', workspaceId: workspace }] };
      const [made, moved] = await Promise.allSettled([
        registry.agents.create(actor, { name: `a${round}`, config }),
        registry.sandboxes.patch(actor, id, { config: open }, {}),
      ]);
      expect([made.status, moved.status].sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

describe('a workspace in a storage that this server cannot open', () => {
  test('can be a record, but no agent can be given it, and an agent that uses a workspace cannot be moved to it', async () => {
    const { registry, actor } = await openFixture({ opened: ['local'] });
    const away = await registry.workspaces.create(actor, { name: 'away', config: { storage: { provider: 's3' } } });
    const near = await registry.workspaces.create(actor, { name: 'near', config: {} });
    const agent = (workspaceId: string) => ({ name: 'a', config: { workspaces: [{ name: 'w', workspaceId }] } });
    expect(await messageOf(registry.agents.create(actor, agent(away.id)))).toBe(
      'The workspace "w" is kept in s3, which this server cannot open; give the agent one that is kept in: local',
    );
    await registry.agents.create(actor, agent(near.id));
    const moved = registry.workspaces.patch(actor, near.id, { config: { storage: { provider: 's3' } } }, {});
    expect(await messageOf(moved)).toContain('cannot open workspaces with the storage s3');
    expect((await registry.workspaces.get(actor, near.id)).config.storage.provider).toBe('local');
  });
});
