import { describe, expect, test } from 'vitest';
import { messageOf, openFixture } from './fixture.ts';

const onlyRestricted =
  'config.network.allowDomains and config.network.allowCidrs are only valid when config.network.mode is restricted';
const someRuntimes = 'config.runtimes must be a non-empty array of: bash, python, node';
const stringMap = 'config.envVars must be an object with string values';
const someHooks = (name: string) => `config.${name} must be a non-empty array of non-empty strings`;
const wrongTypes = [null, 0, 1.5, '', 'x', true, [], [1], {}, { x: 1 }];

const refused: readonly (readonly [config: unknown, message: string])[] = [
  [null, 'config must be an object'],
  [[], 'config must be an object'],
  ['x', 'config must be an object'],
  [{ provider: 'lambda' }, 'config.provider must be one of: bubblewrap, open, plain'],
  [{ provider: 'none' }, 'config.provider must be one of: bubblewrap, open, plain'],
  [{ provider: 'constructor' }, 'config.provider must be one of: bubblewrap, open, plain'],
  [{ provider: null }, 'config.provider must be one of: bubblewrap, open, plain'],
  [{ permissionMode: 'yolo' }, 'config.permissionMode must be one of: edit, ask, bypass'],
  [{ permissionMode: null }, 'config.permissionMode must be one of: edit, ask, bypass'],
  [{ internet: 'true' }, 'config.internet must be a boolean'],
  [{ network: 'deny-all' }, 'config.network must be an object'],
  [{ network: {} }, 'config.network.mode must be one of: allow-all, deny-all, restricted'],
  [{ network: { mode: 'allow-all', allowDomains: [] } }, onlyRestricted],
  [{ network: { mode: 'deny-all', allowCidrs: ['10.0.0.0/8'] } }, onlyRestricted],
  [
    { network: { mode: 'restricted', allowDomains: 'a.com' } },
    'config.network.allowDomains must be an array of strings',
  ],
  [{ network: { mode: 'restricted', allowDomains: [7] } }, 'config.network.allowDomains[0] must be a string'],
  [
    { network: { mode: 'restricted', allowDomains: Array(1001).fill('a.com') } },
    'config.network.allowDomains must have at most 1000 entries',
  ],
  [{ size: 'huge' }, 'config.size must be one of: tiny, xsmall, small, medium, large'],
  [{ snapshot: 4 }, 'config.snapshot must be a string'],
  [{ runtimes: [] }, someRuntimes],
  [{ runtimes: 'bash' }, someRuntimes],
  [{ runtimes: ['bash', 'ruby'] }, someRuntimes],
  [{ timeout: 0 }, 'config.timeout must be a positive integer'],
  [{ timeout: '30' }, 'config.timeout must be a positive integer'],
  [{ timeout: 1.5 }, 'config.timeout must be a positive integer'],
  [{ timeout: 601 }, 'config.timeout must be an integer from 1 to 600'],
  [{ memoryLimit: -1 }, 'config.memoryLimit must be a positive integer'],
  [{ memoryLimit: 1e300 }, 'config.memoryLimit must be a positive integer'],
  [{ outputLimitBytes: 262_145 }, 'config.outputLimitBytes must be an integer from 1 to 262144'],
  [{ outputLimitBytes: 0 }, 'config.outputLimitBytes must be a positive integer'],
  [{ envVars: [] }, stringMap],
  [{ envVars: { A: 1 } }, stringMap],
  [{ envVars: { A: null } }, stringMap],
  [{ envVars: { 'A=B': 'x' } }, 'config.envVars must have names without = and no NUL'],
  [{ envVars: { A: 'x\0y' } }, 'config.envVars must have names without = and no NUL'],
  [{ options: [] }, 'config.options must be an object'],
  [{ persistent: 'yes' }, 'config.persistent must be a boolean'],
  [{ lifecycle: {} }, 'config.lifecycle requires config.persistent to be true'],
  [{ lifecycle: 'x', persistent: true }, 'config.lifecycle must be an object'],
  [
    { persistent: true, lifecycle: { idleTimeoutSeconds: 604_801 } },
    'config.lifecycle.idleTimeoutSeconds must be an integer from 1 to 604800',
  ],
  [
    { persistent: true, lifecycle: { maxLifetimeSeconds: 2_592_001 } },
    'config.lifecycle.maxLifetimeSeconds must be an integer from 1 to 2592000',
  ],
  [{ onCreate: ['a'] }, 'config.onCreate and config.onResume require config.persistent to be true'],
  [{ persistent: true, onCreate: [] }, someHooks('onCreate')],
  [{ persistent: true, onResume: [''] }, someHooks('onResume')],
  [
    { provider: 'open', network: { mode: 'allow-all' }, persistent: true },
    'config.persistent is not supported by the open provider (open is always ephemeral)',
  ],
  [{ provider: 'open' }, 'open cannot enforce egress restrictions; set config.network.mode to allow-all explicitly'],
  [
    { provider: 'plain', network: { mode: 'restricted' } },
    'config.network.mode restricted is not supported by the plain provider; it can do: allow-all, deny-all',
  ],
  [
    { internet: true, network: { mode: 'deny-all' } },
    'config.internet true means config.network.mode allow-all, but that is deny-all; leave one of them out',
  ],
  [
    { internet: false, network: { mode: 'restricted' } },
    'config.internet false means config.network.mode deny-all, but that is restricted; leave one of them out',
  ],
];

describe('a sandbox config', () => {
  test('gets its defaults, and drops fields that are left out', async () => {
    const { registry, actor } = await openFixture();
    const bare = await registry.sandboxes.create(actor, { name: 'bare' });
    expect(bare.config).toEqual({
      provider: 'bubblewrap',
      permissionMode: 'ask',
      network: { mode: 'deny-all' },
      runtimes: ['bash', 'python', 'node'],
    });
    const odd = await registry.sandboxes.create(actor, {
      name: 'odd',
      config: { functionName: 'x', runtimes: ['node', 'node'] },
    });
    expect(odd.config).toEqual({ ...bare.config, runtimes: ['node'] });
  });

  test('is refused as a whole, with these messages, and nothing is made', async () => {
    const { registry, actor } = await openFixture();
    for (const [config, message] of refused) {
      expect(await messageOf(registry.sandboxes.create(actor, { name: 'n', config })), JSON.stringify(config)).toBe(
        message,
      );
    }
    expect((await registry.sandboxes.list(actor, { limit: 10 })).rows).toEqual([]);
  });

  test('is refused in a patch too, and nothing changes', async () => {
    const { registry, actor } = await openFixture();
    const made = await registry.sandboxes.create(actor, { name: 'n', config: { timeout: 5 } });
    for (const [config, message] of refused) {
      // There, `null` deletes and the lists of a mode that is not given join the stored mode.
      if (JSON.stringify(config).includes('null') || message.includes('must be one of: allow-all')) continue;
      const patch = { name: 'other', config };
      expect(await messageOf(registry.sandboxes.patch(actor, made.id, patch, {})), JSON.stringify(config)).toBe(
        message,
      );
    }
    expect(await registry.sandboxes.get(actor, made.id)).toEqual(made);
  });

  test('refuses a wrong type in any field', async () => {
    const { registry, actor } = await openFixture();
    const fields = ['provider', 'permissionMode', 'internet', 'network', 'size', 'runtimes', 'timeout', 'memoryLimit'];
    const more = ['outputLimitBytes', 'persistent', 'lifecycle', 'onCreate', 'onResume'];
    for (const field of [...fields, ...more]) {
      for (const value of wrongTypes.filter((wrong) => !(field === 'lifecycle' && wrong instanceof Object))) {
        if (typeof value === 'boolean' && ['internet', 'persistent'].includes(field)) continue;
        const message = await messageOf(registry.sandboxes.create(actor, { name: 'n', config: { [field]: value } }));
        expect(message, `${field}: ${JSON.stringify(value)}`).toMatch(/^config\./);
      }
    }
  });

  test('accepts both spellings of the network, and stores one', async () => {
    const { registry, actor } = await openFixture();
    const cases = [
      [{ internet: true }, { mode: 'allow-all' }],
      [{ internet: false }, { mode: 'deny-all' }],
      [{ internet: true, network: { mode: 'allow-all' } }, { mode: 'allow-all' }],
      [{ network: { mode: 'restricted' } }, { mode: 'restricted' }],
      [
        { network: { mode: 'restricted', allowDomains: ['Example.COM', '*.a.org:8443'], allowCidrs: ['10.1.2.3/8'] } },
        { mode: 'restricted', allowDomains: ['example.com', '*.a.org:8443'], allowCidrs: ['10.0.0.0/8'] },
      ],
    ] as const;
    for (const [index, [config, network]] of cases.entries()) {
      const made = await registry.sandboxes.create(actor, { name: `n${index}`, config });
      expect(made.config.network).toEqual(network);
      expect(made.config).not.toHaveProperty('internet');
    }
  });

  test('judges allowed addresses as sandboxes do', async () => {
    const { registry, actor } = await openFixture();
    const bad = {
      allowDomains: ['*', 'http://a.com/x', '10.0.0.1', 'a b', '*.com', 'a.com:99999'],
      allowCidrs: ['10.0.0.0/33', '300.0.0.0/8', 'x'],
    };
    for (const [name, entries] of Object.entries(bad)) {
      for (const entry of entries) {
        const network = { mode: 'restricted', [name]: ['fine.com', entry].slice(name === 'allowCidrs' ? 1 : 0) };
        const message = await messageOf(registry.sandboxes.create(actor, { name: 'n', config: { network } }));
        expect(message).toContain(`config.network.${name}[${name === 'allowCidrs' ? 0 : 1}] ${JSON.stringify(entry)}`);
      }
    }
  });

  test('accepts the older spelling of the network in a patch', async () => {
    const { registry, actor } = await openFixture();
    const network = { mode: 'restricted', allowDomains: ['a.com'] };
    const { id } = await registry.sandboxes.create(actor, { name: 'n', config: { network } });
    const patch = async (config: object) => (await registry.sandboxes.patch(actor, id, { config }, {})).config.network;
    expect(await patch({ internet: true })).toEqual({ mode: 'allow-all' });
    expect(await patch({ internet: null })).toEqual({ mode: 'deny-all' });
    expect(await patch({ network })).toEqual(network);
    expect(await messageOf(patch({ network: { mode: 'allow-all' } }))).toBe(onlyRestricted);
    expect(await messageOf(patch({ internet: true, network: { mode: 'deny-all', allowDomains: null } }))).toContain(
      'leave one',
    );
    expect(await messageOf(patch({ internet: 1 }))).toBe('config.internet must be a boolean');
    expect(await patch({ internet: false })).toEqual({ mode: 'deny-all' });
    expect(await patch({ network: null })).toEqual({ mode: 'deny-all' });
  });
});
