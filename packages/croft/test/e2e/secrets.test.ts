import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connectStdio, type McpSession, makeDirectory, type ToolAnswer } from '../support/harness.ts';
import { codeOf, messageOf } from './shared-server.ts';

const newValue = () => randomBytes(18).toString('hex');
const [deploy, filed, dashed, scoped, foreign] = [newValue(), newValue(), newValue(), newValue(), newValue()];
const values = { deploy, filed, dashed, scoped, foreign };

const workspace = makeDirectory({
  'config.txt': `first\ntoken is ${deploy} here\nlast\n`,
  'other.txt': `filed ${filed}\n`,
  'foreign.txt': `foreign ${foreign}\n`,
});
const folder = makeDirectory({
  filed: `${filed}\n`,
  'with-dash': dashed,
  'main/scoped': scoped,
  'elsewhere/foreign': foreign,
  '.hidden': 'not a secret',
});
let session: McpSession;

beforeAll(async () => {
  const flags = ['--workspaces', `main=${workspace.path}`, '--secrets-dir', folder.path];
  session = await connectStdio(flags, { env: { CROFT_SECRET_DEPLOY: deploy } });
  await session.client.listTools();
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  workspace[Symbol.dispose]();
  folder[Symbol.dispose]();
});

const call = (name: string, args: Record<string, unknown> = {}) => session.call(name, args);
const run = (command: string, ...secrets: string[]) => call('bash', { command, secrets });
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);
/** Says which value a variable has without showing it. */
const hashOf = (variable: string) => `printf %s "$${variable}" | sha256sum | cut -c 1-12`;

describe('the secrets of a workspace', () => {
  test('are listed by name, without those of another workspace', async () => {
    const names = ['deploy', 'filed', 'scoped', 'with-dash'];
    expect(await call('secrets_available')).toMatchObject({ text: names.join('\n'), structured: { names } });
  });

  test.each([
    ['deploy', 'DEPLOY'],
    ['DEPLOY', 'DEPLOY'],
    ['filed', 'FILED'],
    ['scoped', 'SCOPED'],
    ['with-dash', 'WITH_DASH'],
  ])('include %s, which a command gets as $%s', async (name, variable) => {
    const answer = await call('secret', { name });
    expect(answer.structured).toEqual({ name, variable });
    expect(answer.text).toContain(`secrets: ["${name}"]`);
    expect(answer.text).toContain(`$${variable} `);
    expectNoValue(answer);
  });

  test.each(['absent', 'foreign'])('do not include %s', async (name) => {
    const message = `unknown secret: ${name} (available: deploy, filed, scoped, with-dash)`;
    const answers = [
      await call('secret', { name }),
      await run('touch ran', 'deploy', name),
      await call('run_command', { cmd: 'touch', args: ['ran'], secrets: [name] }),
    ];
    expect(answers.map(codeOf)).toEqual(['E_NOT_FOUND', 'E_NOT_FOUND', 'E_NOT_FOUND']);
    expect(answers.map(messageOf)).toEqual([message, message, message]);
    expect((await run('ls ran')).structured.exitCode).toBe(2);
  });

  test.each(['../filed', 'main/scoped', '.hidden', 'a b'])('cannot include one named %j', async (name) => {
    expect(codeOf(await call('secret', { name }))).toBe('E_INVALID_INPUT');
    expect(messageOf(await call('secret', { name }))).toBe(`invalid secret name: ${name}`);
  });

  test('are read again for each call', async () => {
    const [before, after] = [newValue(), newValue()];
    writeFileSync(folder.at('rotated'), before);
    expect((await run(hashOf('ROTATED'), 'rotated')).text).toBe(`${hash(before)}\n`);
    writeFileSync(folder.at('rotated'), after);
    expect((await run(hashOf('ROTATED'), 'rotated')).text).toBe(`${hash(after)}\n`);
    expect((await run(`echo ${before} ${after}`)).text).toBe('[REDACTED:rotated] [REDACTED:rotated]\n');
    writeFileSync(folder.at('rotated'), '');
  });
});

describe('a command', () => {
  test('has the given secrets in its environment', async () => {
    const command = `${hashOf('DEPLOY')}; ${hashOf('FILED')}; ${hashOf('SCOPED')}; ${hashOf('WITH_DASH')}`;
    const { text } = await run(command, 'deploy', 'filed', 'scoped', 'with-dash');
    expect(text).toBe([deploy, filed, scoped, dashed].map((value) => `${hash(value)}\n`).join(''));
  });

  test('has the given secrets also without a shell and in the background', async () => {
    const args = ['-c', hashOf('DEPLOY')];
    expect((await call('run_command', { cmd: 'bash', args, secrets: ['deploy'] })).text).toBe(`${hash(deploy)}\n`);
    const late = { command: hashOf('DEPLOY'), secrets: ['deploy'], run_in_background: true };
    const { shell_id } = (await call('bash', late)).structured;
    await vi.waitFor(async () =>
      expect((await call('bash_output', { shell_id })).structured.output).toBe(`${hash(deploy)}\n`),
    );
  });

  test('has no secret that it was not given, whatever an earlier command had', async () => {
    expect((await run(hashOf('DEPLOY'), 'deploy')).text).toBe(`${hash(deploy)}\n`);
    const seen = 'echo "$' + '{DEPLOY-unset} $' + '{FILED-unset}"';
    expect((await run(seen)).text).toBe('unset unset\n');
    expect((await run(seen, 'filed')).text).toBe('unset [REDACTED:filed]\n');
  });

  test('finds no secret in the processes next to it, nor the files of the secrets', async () => {
    const { text } = await run(
      `cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c 'DEPLOY=\\|CROFT_SECRET'; ls ${folder.path}`,
    );
    expect(text).toMatch(/^0\n.*No such file or directory\nexit: 2\n$/);
  });
});

describe('the value of a secret is not shown', () => {
  test.each([
    ['as it is', 'echo "<$DEPLOY>"', '<[REDACTED:deploy]>\n'],
    ['on standard error', 'echo "<$DEPLOY>" >&2', '<[REDACTED:deploy]>\n'],
    ['among the variables', 'env | grep ^DEPLOY=', 'DEPLOY=[REDACTED:deploy]\n'],
    ['twice', 'echo "$DEPLOY $DEPLOY"', '[REDACTED:deploy] [REDACTED:deploy]\n'],
    ['in base64', 'printf %s "$DEPLOY" | base64', '[REDACTED:deploy]\n'],
  ])('%s', async (_, command, shown) => {
    const answer = await run(command, 'deploy');
    expectNoValue(answer);
    expect(answer.text).toBe(shown);
  });

  test.each([0, 1, 2])('in base64 after %i other bytes', async (count) => {
    const answer = await run(`printf %s "${'x'.repeat(count)}$DEPLOY" | base64 -w 0`, 'deploy');
    expect(answer.text).toContain('[REDACTED:deploy]');
    expectNoValue(answer);
  });

  test('by a command that has it from a file', async () => {
    expect((await run('cat config.txt')).text).toBe('first\ntoken is [REDACTED:deploy] here\nlast\n');
    const { structured } = await call('run_command', { cmd: 'cat', args: ['other.txt'] });
    expect(structured.stdout).toBe('filed [REDACTED:filed]\n');
  });

  test('by read', async () => {
    const answer = await call('read', { file_path: 'config.txt' });
    expect(answer.text).toBe('1\tfirst\n2\ttoken is [REDACTED:deploy] here\n3\tlast\n');
    expectNoValue(answer);
  });

  test('by grep', async () => {
    const answer = await call('grep', { pattern: 'token is', path: 'config.txt' });
    expect(answer.text).toContain('token is [REDACTED:deploy] here');
    expectNoValue(answer);
  });

  test('that belongs to another workspace', async () => {
    const answer = await call('read', { file_path: 'foreign.txt' });
    expect(answer.text).toBe('1\tforeign [REDACTED:foreign]\n');
    expectNoValue(answer);
  });

  test('in the command line that is repeated', async () => {
    const answer = await call('bash', { command: `: ${deploy}`, run_in_background: true });
    expectNoValue(answer);
    expectNoValue(await call('bash_output', { shell_id: answer.structured.shell_id }));
  });

  test('in an error', async () => {
    expectNoValue(await call('read', { file_path: `absent-${deploy}` }));
    expectNoValue(await call('bash', { command: 'true', secrets: [`no-${deploy}`] }));
  });

  test('in the events of a watched command', async () => {
    const { shell_id } = (await call('watch_process', { command: 'echo "Error: $(cat config.txt)" >&2' })).structured;
    await vi.waitFor(async () => {
      const answer = await call('watch_process_events', { shell_id });
      expect(answer.structured.status).toBe('completed');
      expectNoValue(answer);
    });
  });

  test('in two halves to a reader that asks in between', async () => {
    const half = deploy.length / 2;
    const command = `printf %s "$(cut -c 1-${half} <<<"$DEPLOY")"; until [ -e go ]; do sleep 0.02; done; cut -c ${half + 1}- <<<"$DEPLOY"`;
    const { shell_id } = (await call('bash', { command, secrets: ['deploy'], run_in_background: true })).structured;
    const shown: string[] = [];
    let cursor = 0;
    const take = async () => {
      const { structured } = await call('bash_output', { shell_id, cursor });
      shown.push(structured.output);
      cursor = structured.cursor;
      return structured;
    };
    await vi.waitFor(async () => expect((await call('bash_output', { shell_id })).structured.output).not.toBe(''));
    await take();
    await run('touch go');
    await vi.waitFor(async () => expect((await take()).status).toBe('completed'));
    await take();
    expect(shown.join('')).not.toContain(deploy);
  });

  test('in part where long output is cut', async () => {
    const before = 50 * 1024 - deploy.length / 2;
    const command = `head -c ${before} /dev/zero | tr "\\0" .; printf %s "$DEPLOY"; head -c 200000 /dev/zero | tr "\\0" .`;
    const { structured } = await run(command, 'deploy');
    expect(structured.truncated).toBe(true);
    expect(structured.output).not.toContain(deploy.slice(0, deploy.length / 2));
  });
});

function expectNoValue({ text, structured }: ToolAnswer): void {
  const all = text + JSON.stringify(structured);
  for (const [name, value] of Object.entries(values)) {
    expect(all.includes(value), `${name} as it is`).toBe(false);
    const encoded = Buffer.from(value).toString('base64').slice(4, -4);
    expect(all.includes(encoded), `${name} in base64`).toBe(false);
  }
}
