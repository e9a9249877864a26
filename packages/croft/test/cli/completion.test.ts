import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { croft, makeDirectory } from '../support/harness.ts';
import { openPty } from '../support/pty.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

const shells = { bash: '/usr/bin/bash', zsh: '/usr/bin/zsh', fish: '/usr/bin/fish' } as const;
installShells();

/** Debian's shells, if we may install them; elsewhere their tests are skipped, and say so. */
function installShells(): void {
  const missing = Object.entries(shells).filter(([, path]) => !existsSync(path));
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const names = missing.map(([name]) => name);
  const quietly = { env, stdio: 'ignore', timeout: 200_000 } as const;
  spawnSync('apt-get', ['update'], quietly);
  spawnSync(
    'apt-get',
    ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...names],
    quietly,
  );
}

let fixture: CliFixture;
const home = makeDirectory();
let env: Record<string, string>;
const completeOnce = async (words: readonly string[]) =>
  (await fixture.run(['__complete', '--', ...words])).stdout.split('\n').slice(0, -1);
/** A busy machine may answer nothing in time. */
const expectFor = (...words: string[]) => expect.poll(() => completeOnce(words), { timeout: 20_000 });

beforeAll(async () => {
  fixture = await openCliFixture();
  await fixture.account.newWorkspace({}, 'notes');
  await fixture.account.newWorkspace({}, 'with space');
  await fixture.account.newAgent({}, 'writer');
  await fixture.run(['files', 'put', '-', 'notes:docs/plan.md'], { input: 'x' });
  await fixture.run(['snapshots', 'create', 'notes', 'monday']);
  symlinkSync(croft, home.at('croft'));
  for (const shell of Object.keys(shells))
    writeFileSync(home.at(`croft.${shell}`), (await fixture.run(['completion', shell])).stdout);
  env = { ...fixture.env, HOME: home.path, PATH: `${home.path}:${process.env.PATH}` };
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

test('commands, verbs, flags, values and names are completed', async () => {
  await expectFor('wo').toEqual(['workspaces']);
  await expectFor('snapshots', 're').toEqual(['restore']);
  await expectFor('agents', 'list', '--js').toEqual(['--json']);
  await expectFor('keys', 'create', 'x', '--scope', 'te').toEqual(['terminal']);
  await expectFor('exec', '').toEqual(['notes', 'with space']);
  await expectFor('logs', '--agent', '').toEqual(['writer']);
  await expectFor('agents', 'show', 'w').toEqual(['writer']);
  await expectFor('files', 'ls', 'no').toEqual(['notes:']);
  await expectFor('exec', 'notes', '--', 'ls', '').toEqual([':files']);
  await expectFor('files', 'ls', 'notes:').toEqual(['notes:docs/']);
  await expectFor('files', 'get', 'notes:docs/').toEqual(['notes:docs/plan.md']);
  await expectFor('snapshots', 'restore', 'notes', 'mo').toEqual(['monday']);
  await expectFor('diff', 'notes', '--since', 'mo').toEqual(['monday']);
});

test.each([
  ['no server', { CROFT_SERVER: 'http://127.0.0.1:2' }],
  ['a wrong key', { CROFT_KEY: 'croft_wrong' }],
  ['nothing to say who the person is', { CROFT_SERVER: 'http://127.0.0.1:2', CROFT_KEY_FILE: '/nonexistent' }],
  ['settings that are invalid', { CROFT_SERVER: '' }],
])('with %s nothing is said', async (_, more) => {
  const answer = await fixture.run(['__complete', '--', 'exec', ''], { env: more });
  expect(answer).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});

/** Presses Tab until the line is completed: on a busy machine the first answer may be too late. */
async function tab(pty: ReturnType<typeof openPty>, begun: string, completed: RegExp): Promise<void> {
  pty.type(begun);
  await vi.waitFor(
    async () => {
      pty.type('\t');
      await pty.until(completed, 1500);
    },
    { timeout: 30_000, interval: 10 },
  );
  pty.type('\u0015');
}

test('with a server that does not answer nothing is said, and soon', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const silent = createServer(() => resolve());
  await new Promise<void>((ready) => silent.listen(0, '127.0.0.1', ready));
  const env = { CROFT_SERVER: `http://127.0.0.1:${(silent.address() as AddressInfo).port}` };
  expect(await fixture.run(['__complete', '--', 'exec', ''], { env })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  await asked;
  silent.closeAllConnections();
  silent.close();
});

describe.skipIf(!existsSync(shells.bash))('in a real bash', () => {
  test('Tab completes the name of a workspace, a path behind a colon and a name with a space', async () => {
    using pty = openPty('exec bash --norc --noprofile -i', { env });
    pty.type(`PS1='> '; source ~/croft.bash\n`);
    await pty.until(/croft.bash\r\n/);
    await tab(pty, 'croft exec no', /croft exec notes /);
    await tab(pty, 'croft files get notes:do', /croft files get notes:docs\//);
    await tab(pty, 'croft exec w', /croft exec with\\ space /);
    pty.type('exit\n');
    expect(await pty.ended()).toBe(0);
  });
});

describe.skipIf(!existsSync(shells.zsh))('in a real zsh', () => {
  test('Tab completes the name of a workspace, and a path behind a colon', async () => {
    using pty = openPty('exec zsh -f -i', { env });
    pty.type(`PS1='> '; source ~/croft.zsh; echo rea""dy\n`);
    await pty.until(/ready\r\n/);
    await tab(pty, 'croft exec no', /croft exec notes /);
    await tab(pty, 'croft files get notes:do', /croft files get notes:docs\//);
    pty.type('exit\n');
    expect(await pty.ended()).toBe(0);
  });
});

describe.skipIf(!existsSync(shells.fish))('in a real fish', () => {
  test('the name of a workspace and a path behind a colon are completed', async () => {
    const ask = (line: string) =>
      spawnSync(shells.fish, ['--no-config', '-c', `source ~/croft.fish; complete -C '${line}'`], {
        env: { ...env, TERM: 'xterm' },
        encoding: 'utf8',
      }).stdout.split('\n');
    await expect.poll(() => ask('croft exec no'), { timeout: 20_000 }).toContain('notes');
    await expect.poll(() => ask('croft files get notes:do'), { timeout: 20_000 }).toContain('notes:docs/');
    await expect.poll(() => ask('croft snap'), { timeout: 20_000 }).toContain('snapshots');
  });
});
