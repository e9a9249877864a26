import { setTimeout } from 'node:timers/promises';
import type { PageFixture } from '../../packages/croft/test/page/page-fixture.ts';
import type { Account } from '../../packages/croft/test/support/servers/platform.ts';

/** An account whose agents have worked for a while, with a call that waits. */
export interface Showcase {
  readonly secret: string;
  readonly agentId: string;
  readonly approvalId: string;
  /** The address of the workspace on the page. */
  readonly root: string;
  readonly terminal: string;
}

const greet = `import { languageOf } from './languages.ts';

/** Greets a person in their own language. */
export function greet(name: string): string {
  return 'Hello, ' + name + '!';
}

export function greetAll(names: readonly string[]): string[] {
  return names.map((name) => greet(name));
}
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greet } from '../src/greet.ts';

test('greets by name', () => assert.equal(greet('Ada'), 'Hello, Ada!'));
`;

const thinkMs = [900, 400, 1700, 700, 2400, 1100, 500, 1900];
let thoughts = 0;

/** An agent takes a moment before each call. */
function toWorker({ call }: Pick<Account, 'call'>, agentId: string, always: object = {}) {
  return async (tool: string, input: object) => {
    await setTimeout(thinkMs[thoughts++ % thinkMs.length]);
    return call(agentId, tool, { ...always, ...input });
  };
}

/** A server that has more to do at some times than at others. */
const server = `import { createServer } from 'node:http';

createServer().listen(3000);
export let held;
setInterval(() => {
  const wave = 1 + Math.sin(Date.now() / 3500);
  held = Buffer.alloc(5e7 + wave * 1.2e8, 1);
  for (const until = Date.now() + wave * 160; Date.now() < until; );
}, 500);
`;

/** A command that runs as long as the server of the pictures does. */
const watch = `for i in $(seq 1000); do
  echo "✔ greets in language $i ($((i % 7 + 2)) ms)"
  sleep 2
done
`;

export async function fillAccount({ platform }: PageFixture): Promise<Showcase> {
  const account = await platform.newAccount('ada');
  const open = await account.newSandbox({ permissionMode: 'bypass' }, 'workshop');
  const careful = await account.newSandbox(
    { permissionMode: 'edit', network: { mode: 'restricted', allowDomains: ['registry.example'] } },
    'careful',
  );
  const [service, docs] = [await account.newWorkspace({}, 'service'), await account.newWorkspace({}, 'handbook')];
  const builder = await account.newAgent(
    { sandbox: open, workspaces: [{ name: 'service', workspaceId: service }] },
    'builder',
  );
  const agentId = await account.newAgent(
    {
      sandbox: careful,
      workspaces: [
        { name: 'service', workspaceId: service },
        { name: 'handbook', workspaceId: docs, sandbox: null },
      ],
    },
    'writer',
  );
  const build = toWorker(account, builder);
  const write = toWorker(account, agentId, { workspace: 'service' });

  await build('write', { file_path: 'README.md', content: '# Greetings\n\nGreets people in their own language.\n' });
  await build('write', { file_path: 'src/greet.ts', content: greet });
  await build('write', { file_path: 'src/languages.ts', content: "export const languageOf = () => 'en';\n" });
  await build('write', { file_path: 'test/greet.test.ts', content: test });
  await build('write', { file_path: 'src/server.mjs', content: server });
  await build('write', { file_path: 'test/watch.sh', content: watch });
  await build('bash', { command: 'grep -rn greet src | wc -l' });
  await account.send('POST', `/v1/workspaces/${service}/snapshots`, {
    name: 'before-languages',
    description: 'Everything in English',
  });
  await build('bash', { command: 'node --version && exit 1' });
  await write('read', { file_path: 'src/greet.ts' });
  await write('grep', { pattern: 'greet\\(' });
  await write('edit', {
    file_path: 'src/greet.ts',
    old_string: "  return 'Hello, ' + name + '!';",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that an agent writes.
    new_string: '  const { hello } = languageOf(name);\n  return `${hello}, ${name}!`;',
  });
  await build('bash', { command: 'curl -sS https://registry.example.org/greetings' });
  await build('bash', { command: 'mkdir -p dist && cp src/*.ts dist/ && ls dist' });
  await build('read', { file_path: 'test/greet.test.ts' });
  await build('bash', { command: 'node src/server.mjs & sleep 0.3; echo started' });
  await write('glob', { pattern: '**/*.ts' });
  await write('bash', { command: 'node --test test/' });
  await account.send('POST', '/v1/keys', { name: 'model of writer', scopes: ['call'], agents: [agentId] });
  await account.send('POST', '/v1/keys', { name: 'nightly export', scopes: ['read'] });
  void build('bash', { command: 'bash test/watch.sh', timeout: 600 }).catch(() => {});
  await setTimeout(4000);
  const asked = await write('bash', {
    command: 'npm version minor && npm publish --tag next\n# releases the new greetings to everybody',
  });
  return {
    secret: account.secret,
    agentId,
    approvalId: asked.body.approval.approvalId,
    root: `/workspaces/${service}`,
    terminal: `/terminal?workspace=${service}&sandbox=${open}`,
  };
}
