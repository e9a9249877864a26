import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeDirectory, runCroft } from '../support/harness.ts';

/** A workspace, a home and a data directory of their own; `run` is one command line in the workspace. */
function makePerson(tree: Record<string, string> = {}) {
  const fixture = makeDirectory({ 'workspace/a.txt': 'one\n', 'home/empty': '', ...tree });
  const [workspace, data, home] = [fixture.at('workspace'), fixture.at('data'), fixture.at('home')];
  return {
    ...fixture,
    workspace,
    home,
    async run(command: string, flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
      const input = JSON.stringify({ command });
      const all = { CROFT_DATA: data, HOME: home, ...env };
      return runCroft(['tool', 'bash', input, '--workspace', workspace, ...flags], { env: all });
    },
  };
}

function makeTool(path: string, says: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho ${says}\n`);
  chmodSync(path, 0o755);
}

describe('PATH', () => {
  test('keeps its order inside, with --allow-read directories, and without hidden ones', async () => {
    using person = makePerson();
    makeTool(person.at('shared/bin/croft-test-tool'), 'shared');
    makeTool(person.at('home/.rbenv/shims/croft-test-tool'), 'rbenv');
    makeTool(person.at('home/private/bin/croft-test-tool'), 'private');
    const own = ['home/private/bin', 'shared/bin', 'home/.rbenv/shims'].map(person.at);
    const PATH = ['/usr/lib', ...own, process.env.PATH].join(':');
    const flags = ['--allow-read', person.at('shared')];
    const { stdout } = await person.run('croft-test-tool; echo $PATH', flags, { PATH });
    const [tool, path] = stdout.split('\n');
    expect(tool).toBe('shared');
    expect(path?.split(':').slice(0, 3)).toEqual(['/usr/lib', own[1], own[2]]);
    expect((await person.run('croft-test-tool', [], { PATH })).stdout).toBe('rbenv\n');
  });
});

describe('--env', () => {
  test('passes the named variables, with a value or with that of croft, and no others', async () => {
    using person = makePerson();
    const flags = ['--env', 'ONE=a=b c', '--env', 'TWO', '--env=EMPTY=', '--env', 'CARGO_HOME=/tmp/cargo'];
    const run = await person.run('echo "$ONE|$TWO|$CARGO_HOME"; printenv EMPTY && printenv THREE', flags, {
      TWO: 'two',
      THREE: 'three',
    });
    expect(run.stdout).toBe('a=b c|two|/tmp/cargo\n\nexit: 1\n');
  });

  test('with an unsafe variable stops the program with the reason', async () => {
    using person = makePerson();
    const stderr = expect.stringMatching(/^--env LD_PRELOAD would put code into every program/);
    expect(await person.run('true', ['--env', 'LD_PRELOAD=/tmp/x'])).toEqual({ exitCode: 2, stdout: '', stderr });
  });

  test('applies to commands without isolation too', async () => {
    using person = makePerson();
    const flags = ['--sandbox', 'none', '--network', 'allow-all', '--env', 'ONE=1', '--env', 'https_proxy=http://p'];
    expect((await person.run('echo $ONE $https_proxy', flags)).stdout).toBe('1 http://p\n');
  });
});

describe('certificates', () => {
  const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const key = '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n';

  test('that croft trusts can be used inside, each in a read-only file', async () => {
    using person = makePerson({ 'home/ca/company.pem': certificate });
    const file = person.at('home/ca/company.pem');
    const env = { NODE_EXTRA_CA_CERTS: file, GIT_SSL_CAINFO: file, SSL_CERT_FILE: '/etc/ssl/certs/none.pem' };
    const command = 'cat "$NODE_EXTRA_CA_CERTS" "$GIT_SSL_CAINFO"; printenv SSL_CERT_FILE; : > "$GIT_SSL_CAINFO"';
    const { stdout } = await person.run(command, [], env);
    expect(stdout).toMatch(new RegExp(`^${certificate}${certificate}bash: .*Read-only file system`));
  });

  test('in a file with a private key are not shown', async () => {
    using person = makePerson({ 'home/both.pem': certificate + key });
    const env = { NODE_EXTRA_CA_CERTS: person.at('home/both.pem') };
    expect((await person.run('printenv NODE_EXTRA_CA_CERTS', [], env)).stdout).toBe('exit: 1\n');
  });
});

describe('git', () => {
  const commit =
    'git init -q . 2>/dev/null; git commit -q --allow-empty -m x; git log -1 --format="%an <%ae> %cn <%ce>"';
  const gitconfig = [
    ...['[user]', '\tname = Ada "the first" King', '\temail = ada@home.example'],
    ...['[includeIf "gitdir:**/workspace/.git"]', '\tpath = .gitconfig-work'],
  ].join('\n');
  const tree = {
    'home/.gitconfig': gitconfig,
    'home/.gitconfig-work': '[user]\n\temail = ada@work.example\n',
    'workspace/.git/HEAD': 'ref: refs/heads/main\n',
    'workspace/.git/config': '[core]\n\trepositoryformatversion = 0\n',
    'workspace/.git/objects/keep': '',
    'workspace/.git/refs/keep': '',
  };
  const ada = 'Ada the first King <ada@work.example>';

  test('commits as the person, with the identity from the settings of the person', async () => {
    using person = makePerson(tree);
    expect((await person.run(commit)).stdout).toBe(`${ada} ${ada}\n`);
  });

  test('commits with the identity from the repository, if that has one', async () => {
    using person = makePerson({ ...tree, 'workspace/.git/config': '[user]\n\temail = own@repository.example\n' });
    const own = 'Ada the first King <own@repository.example>';
    expect((await person.run(commit)).stdout).toBe(`${own} ${own}\n`);
  });

  test('commits with --git-identity, or without an identity', async () => {
    using person = makePerson(tree);
    const grace = 'Grace \\ "G" Hopper <grace@navy.example>';
    expect((await person.run(commit, ['--git-identity', grace])).stdout).toBe(`${grace} ${grace}\n`);
    const nobody = 'croft <croft@localhost>';
    expect((await person.run(commit, ['--git-identity', 'none'])).stdout).toBe(`${nobody} ${nobody}\n`);
  });

  test('does not block on a repository that includes an endless file', async () => {
    using person = makePerson({ ...tree, 'workspace/.git/config': '[include]\n\tpath = pipe\n' });
    execFileSync('mkfifo', [person.at('workspace/.git/pipe')]);
    expect((await person.run('echo done')).stdout).toBe('done\n');
  });
});
