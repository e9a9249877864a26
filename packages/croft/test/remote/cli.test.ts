import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { addAccount, kill, openInstallation } from '../support/servers/installation.ts';
import { type Account, mustBe, openAccount, type Platform, startPlatform } from '../support/servers/platform.ts';
import { hasToolchains } from '../support/toolchains.ts';
import { newToken, startRunner, untilRunner } from './runner-fixture.ts';

const own = makeDirectory();
let platform: Platform;
let account: Account;
beforeAll(async () => {
  // With a token that it makes itself, in its data directory.
  platform = await startPlatform([], { CROFT_ADMIN_TOKEN: '' });
  const admin = readFileSync(join(platform.data, 'admin-token'), 'utf8').trim();
  const made = mustBe(201, await platform.request(admin, 'POST', '/accounts', { username: 'ann' }));
  account = openAccount(platform.url, made.secret, made.account.accountId);
  writeFileSync(own.at('key'), `${account.secret}\n`);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  own[Symbol.dispose]();
});

const runners = (...args: string[]) =>
  runCroft(['runners', ...args, '--server', platform.url, '--key-file', own.at('key')]);

describe('croft runners', () => {
  test('prints only a token, which admits a machine until it is revoked', async () => {
    const made = await runners('create', 'laptop');
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^croft_[\w-]{43}\n$/) });
    expect(made.stderr).toContain('croft runner --server URL --token-file FILE');
    expect(made.stderr).not.toContain(made.stdout.trim());
    expect((await runners()).stdout).toBe('laptop\toffline\t\t\t\t\t\n');
    const args = ['--label', 'gpu=yes', '--capacity', '3', '--name', 'laptop'];
    await using runner = await startRunner({ url: platform.url, token: made.stdout.trim(), args });
    await untilRunner(account, 'laptop');
    expect((await runners('list')).stdout).toMatch(/^laptop\tonline\tbubblewrap\t0\/3\t\S+\tgpu=yes\t\n$/);
    const [row] = JSON.parse((await runners('list', '--json')).stdout).runners;
    expect(row).toMatchObject({ name: 'laptop', state: 'online', report: { labels: { gpu: 'yes' } } });

    // With the new token alone it comes back.
    const rotated = await runners('rotate', 'laptop');
    expect(rotated.stdout).toMatch(/^croft_/);
    expect(rotated.stdout).not.toBe(made.stdout);
    await untilRunner(account, 'laptop', 'offline');
    await runner.stop('SIGTERM');
    expect(runner.child.exitCode).toBe(0);
    writeFileSync(runner.tokenFile, rotated.stdout);
    runner.restart();
    await untilRunner(account, 'laptop');

    expect(await runners('revoke', 'laptop')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    await runner.output.find(/refused: AUTH_FAILED/);
    expect((await runners()).stdout).toBe('');
  });

  test('works for the admin of the data directory too, in an account', async () => {
    const asAdmin = (...args: string[]) => {
      const { accountId } = account;
      return runCroft(['runners', ...args, '--server', platform.url, '--account', accountId, '--data', platform.data]);
    };
    expect((await asAdmin('create', 'of-admin')).stdout).toMatch(/^croft_/);
    expect((await asAdmin()).stdout).toBe('of-admin\toffline\t\t\t\t\t\n');
    expect((await asAdmin('revoke', 'of-admin')).exitCode).toBe(0);
    const unknown = ['runners', '--server', platform.url, '--account', 'acc_0', '--data', platform.data];
    expect(await runCroft(unknown)).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: expect.stringContaining('found'),
    });
  });

  test('reports an error in one line, and the next step in another', async () => {
    const cable = await startFaultyCable(platform.url);
    await cable.refuse();
    const nobody = ['runners', '--server', cable.url, '--key-file', own.at('key')];
    expect(await runCroft(nobody)).toMatchObject({
      exitCode: 7,
      stdout: '',
      stderr: expect.stringMatching(/^croft: http:\S+ cannot be reached: .*ECONNREFUSED.*\nNext: start it with: .*\n$/),
    });
    expect((await runCroft(['runners', '--server', platform.url])).stderr).toMatch(
      /^say who you are at \S+: sign in once with: croft login .*, or name a key with --key-file FILE/,
    );
    expect((await runCroft(['runners', '--key-file', own.at('none')])).stderr).toContain('cannot be read');
    expect((await runCroft(['runners', '--server', 'nowhere', '--key-file', own.at('key')])).stderr).toContain('URL');
    for (const wrong of [['create'], ['list', 'x'], ['create', 'a', 'b'], ['rotate']])
      expect((await runners(...wrong)).stderr).toContain(`usage: croft runners ${wrong[0]}`);
    expect((await runners('dance', 'a')).stderr).toContain('croft runners has no dance');
    expect((await runners('revoke', 'nobody')).stderr).toContain('there is no runner nobody');
    expect((await runners('create', '../x')).stderr).toContain('name must be 1 to 64 letters');
    writeFileSync(own.at('wrong'), 'croft_wrong');
    const denied = await runCroft(['runners', '--server', platform.url, '--key-file', own.at('wrong')]);
    expect(denied).toMatchObject({ exitCode: 4, stdout: '' });
    expect(denied.stderr).not.toContain('croft_wrong');
  });
});

test('croft runner names its missing arguments, and connects nowhere without them', async () => {
  const token = own.at('key');
  const cases = [
    [['--server', platform.url], 'usage: croft runner'],
    [['--server', platform.url, '--token-file', token], 'say what is offered'],
    [['--server', 'http://192.0.2.1', '--token-file', token, '--root', own.at('r')], 'use https'],
    [
      ['--server', platform.url, '--token-file', token, '--root', own.at('r'), '--label', 'x'],
      '--label takes KEY=VALUE',
    ],
    [['--server', platform.url, '--token-file', token, '--root', own.at('r'), '--capacity', '0'], '--capacity takes'],
  ] as const;
  for (const [args, words] of cases) {
    const run = await runCroft(['runner', ...args, '--data', own.at('data')]);
    expect(run.exitCode, words).not.toBe(0);
    expect(run.stderr).toContain(words);
  }
});

test.skipIf(!(await hasToolchains('openssl')))(
  'a server with its own certificate is reached over https by clients that know it',
  async () => {
    const { key, cert } = makeCertificate('own');
    await using ownInstallation = openInstallation();
    const plain = await ownInstallation.start();
    const owner = await addAccount(plain, 'owner');
    const token = await newToken(owner, 'far');
    await kill(plain);

    const { url } = await ownInstallation.start(['--tls-cert', cert, '--tls-key', key]);
    expect(url).toMatch(/^https:/);
    await using stranger = await startRunner({ url, token });
    await stranger.output.find(/self-signed certificate/);
    const env = { NODE_EXTRA_CA_CERTS: cert };
    writeFileSync(own.at('owner'), owner.secret);
    const list = () => runCroft(['runners', '--server', url, '--key-file', own.at('owner')], { env });
    expect((await list()).stdout).toBe('far\toffline\t\t\t\t\t\n');
    await using runner = await startRunner({ url, token, env });
    await vi.waitFor(async () => expect((await list()).stdout).toContain('far\tonline'));
    expect(runner.child.exitCode).toBe(null);
  },
);

test.skipIf(!(await hasToolchains('openssl')))(
  'an invalid certificate or key is refused in one line, which names the file',
  async () => {
    const [mine, others] = [makeCertificate('mine'), makeCertificate('others')];
    writeFileSync(own.at('junk.pem'), 'junk\n');
    const serveWith = (cert: string, key: string) =>
      runCroft([
        'serve',
        '--port',
        '0',
        '--workspace',
        own.path,
        '--data',
        own.at('d'),
        '--tls-cert',
        cert,
        '--tls-key',
        key,
      ]);
    for (const [cert, key, message] of [
      [own.at('junk.pem'), mine.key, /^--tls-cert \S+junk\.pem is no certificate in PEM \(.+\)\n$/],
      [mine.cert, own.at('junk.pem'), /^--tls-key \S+junk\.pem is no private key in PEM \(.+\)\n$/],
      [mine.cert, others.key, /^--tls-key \S+others-key\.pem is not the key of the certificate \(.+\)\n$/],
      [own.at('gone.pem'), mine.key, /^--tls-cert \S+gone\.pem cannot be read: .+\n$/],
    ] as const) {
      const { exitCode, stdout, stderr } = await serveWith(cert, key);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(message);
    }
  },
);

function makeCertificate(name: string) {
  const [key, cert] = [own.at(`${name}-key.pem`), own.at(`${name}-cert.pem`)];
  const subject = ['-subj', '/CN=croft', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-days', '1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { key, cert };
}

test('a certificate without its key is refused', async () => {
  const run = await runCroft(['serve', '--workspace', own.path, '--tls-cert', own.at('key'), '--data', own.at('d')]);
  expect(run.stderr).toContain('--tls-cert and --tls-key go together');
  expect(run.exitCode).not.toBe(0);
});
