import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';

let platform: Platform;
let account: Account;
let agent: string;

const token = 'deploy-value-7c1f93';
const keys = ['first', 'second'].map((name) => `ghp_${name.padEnd(36, 'x9Y')}`);

beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
  mustBe(200, await account.send('PUT', '/v1/secrets/DEPLOY', { value: token }));
  const sandbox = await account.newSandbox({
    permissionMode: 'bypass',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret is spelt so.
    envVars: { NODE_ENV: 'production', REGION: 'eu-central', TOKEN: '${secret:DEPLOY}' },
  });
  const workspaceId = await account.newWorkspace({ harness: { enabled: true } });
  agent = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
});

afterAll(() => platform[Symbol.asyncDispose]());

const call = (tool: string, input: object) => account.call(agent, tool, input);

/** As a program of the person leaves it: no tool saw the content. In base64, which is how it comes back too. */
async function put(path: string, content: string): Promise<void> {
  const command = `printf %s ${Buffer.from(content).toString('base64')} | base64 -d > ${path}`;
  expect(mustBe(200, await call('bash', { command }))).toMatchObject({ exitCode: 0 });
}

/** Letter by letter, so that nothing in the answer is redacted. */
async function bytesOf(path: string): Promise<string> {
  const { output } = mustBe(200, await call('bash', { command: `xxd -p -c1 ${path} | tr '\\n' ' '` }));
  return Buffer.from(output.replaceAll(/\s/g, ''), 'hex').toString();
}

async function read(path: string): Promise<string> {
  const { content } = mustBe(200, await call('read', { file_path: path }));
  return content.replaceAll(/^\d+\t/gm, '');
}

describe('a redacted variable', () => {
  test('is not an ordinary variable of a sandbox, and its mark has no id', async () => {
    await put('config.js', `export const mode = "production";\nregion = "eu-central";\ntoken = "${token}";\n`);
    const shown = await read('config.js');
    expect(shown).toContain('mode = "production";\nregion = "eu-central";\n');
    expect(shown).toContain('[REDACTED:deploy]');
    expect(shown).not.toMatch(/sb_|acct_|#/);
  });

  test('was declared as a secret', async () => {
    const { output } = mustBe(200, await call('bash', { command: 'echo "$NODE_ENV"; echo "<$TOKEN>"' }));
    expect(output).toBe('production\n<[REDACTED:deploy]>\n');
  });

  test('whose secret is missing starts no command', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret is spelt so.
    const sandbox = await account.newSandbox({ permissionMode: 'bypass', envVars: { T: '${secret:NOT_THERE}' } });
    const other = await account.newAgent({ sandbox });
    const { status, body } = await account.call(other, 'bash', { command: 'echo "$T"' });
    expect(status).toBe(404);
    expect(body.error.message).toContain('store it with PUT /v1/secrets/NOT_THERE');
  });
});

describe('a redaction mark in a change', () => {
  const content = `a = "${token}"\nb = "${keys[0]}"\nc = "${keys[1]}"\nend\n`;

  test('by write keeps the bytes that it stands for', async () => {
    await put('env', content);
    const shown = await read('env');
    expect(shown).not.toContain(token);
    mustBe(200, await call('write', { file_path: 'env', content: shown.replace('end', 'the end') }));
    expect(await bytesOf('env')).toBe(content.replace('end', 'the end'));
  });

  test('by write with lines in another order moves with its line', async () => {
    await put('env', content);
    const [a, b, c, end] = (await read('env')).split('\n');
    mustBe(200, await call('write', { file_path: 'env', content: [c, end, b, a, ''].join('\n') }));
    const [one, two, three, four] = content.split('\n');
    expect(await bytesOf('env')).toBe([three, four, two, one, ''].join('\n'));
  });

  test('by edit keeps the bytes, in the old text alone or in both', async () => {
    await put('env', content);
    const shown = await read('env');
    const [, b = ''] = shown.split('\n');
    mustBe(200, await call('edit', { file_path: 'env', old_string: b, new_string: `${b} # kept` }));
    mustBe(200, await call('edit', { file_path: 'env', old_string: 'a = "[REDACTED:deploy]"', new_string: 'a = env' }));
    expect(await bytesOf('env')).toBe(`a = env\nb = "${keys[0]}" # kept\nc = "${keys[1]}"\nend\n`);
  });

  test.each([
    ['write', { file_path: 'new', content: 'token = [REDACTED:deploy]\n' }],
    ['write', { file_path: 'new', content: 'token = [REDACTED:github-pat]\n' }],
    ['write', { file_path: 'env', content: 'x = [REDACTED:github-pat]\n' }],
    ['edit', { file_path: 'env', old_string: 'end', new_string: '[REDACTED:github-pat]' }],
    ['edit', { file_path: 'env', old_string: 'end', new_string: '[REDACTED:jwt]' }],
    ['memory_save', { title: 'token', content: 'it is [REDACTED:deploy]' }],
  ])('by %s without bytes behind it is refused, and nothing is stored', async (tool, input) => {
    await put('env', content);
    await read('env');
    const { status, body } = await call(tool, input);
    expect(status).toBe(409);
    expect(body.error).toMatchObject({ code: 'E_REDACTION_MARK', hint: expect.stringContaining('use a command') });
    expect(await bytesOf('env')).toBe(content);
    const { output } = mustBe(200, await call('bash', { command: 'cat new MEMORY.md 2>/dev/null' }));
    expect(output).not.toContain('REDACTED');
  });

  test('is shown to the person with its effect, not as a mark', async () => {
    const sandbox = await account.newSandbox({ permissionMode: 'ask' });
    const workspaceId = await account.newWorkspace();
    const asking = await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
    const refused = await account.call(asking, 'write', { file_path: 'x', content: '[REDACTED:deploy]' });
    expect(refused.body.error).toMatchObject({ code: 'E_REDACTION_MARK' });
  });
});

describe('text about redaction', () => {
  test.each(['[REDACTED]', '[REDACTED:<name>]', '[REDACTED:some-other-tool]', 'REDACTED:deploy'])(
    'such as %s is written like any other',
    async (words) => {
      await call('delete', { file_path: 'manual.md' });
      mustBe(200, await call('write', { file_path: 'manual.md', content: `It shows ${words} then.\n` }));
      expect(await bytesOf('manual.md')).toBe(`It shows ${words} then.\n`);
    },
  );

  test('that was there before stays, even if it equals a mark', async () => {
    const manual = 'It shows [REDACTED:deploy] then.\nAnd more.\n';
    await put('kept.md', manual);
    expect(await read('kept.md')).toBe(manual);
    mustBe(200, await call('write', { file_path: 'kept.md', content: `# Title\n${manual}` }));
    expect(await bytesOf('kept.md')).toBe(`# Title\n${manual}`);
    mustBe(200, await call('edit', { file_path: 'kept.md', old_string: '] then', new_string: '] later' }));
    expect(await bytesOf('kept.md')).toBe(`# Title\n${manual.replace('then', 'later')}`);
  });
});
