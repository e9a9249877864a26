import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../lib/processes/find-program.ts';
import type { EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { watchFiles } from './watch-files.ts';

export const settings = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';

/** The least files that git takes for a repository. */
export const repositoryTree = (at: string) => ({
  [`${at}HEAD`]: 'ref: refs/heads/main\n',
  [`${at}config`]: settings,
  [`${at}hooks/pre-commit`]: '#!/bin/sh\n',
  [`${at}info/attributes`]: '*.bin binary\n',
  [`${at}objects/info/x`]: '',
  [`${at}refs/heads/x`]: '',
});
export const gitControlPaths = (at: string) => ['hooks/pre-commit', 'hooks', 'config'].map((name) => `${at}${name}`);

export const linkedWorktree = {
  'linked/.git': 'gitdir: ../.git/worktrees/linked\n',
  '.git/worktrees/linked/HEAD': 'ref: refs/heads/x\n',
  '.git/worktrees/linked/commondir': '../..\n',
  '.git/worktrees/linked/gitdir': '../../../linked/.git\n',
};

/** Settings and hooks may be removed together with their repository, but never changed. */
export async function attemptNested(fixture: EscapeFixture) {
  const nested = ['deep/er/.git/', '.git/modules/sub/'];
  const trees = nested.map((at) => repositoryTree(at));
  const tree = Object.assign({ ...repositoryTree('.git/'), 'sub/.git': 'gitdir: ../.git/modules/sub\n' }, ...trees);
  const own = await fixture.open({ tree });
  const attack = `git config --file config core.fsmonitor evil; echo '[core] fsmonitor = evil' > new; cp new config; mv -f new config
    echo evil > hooks/pre-commit; echo evil > new; mv -f new hooks/pre-commit; mv hooks gone; mkdir hooks; cp config hooks/post-commit`;
  for (const at of nested) await own.run(`cd ${at}; (${attack}) 2>/dev/null; exit 0`);
  return toVerdict(nested.map((at) => findObeyed(join(own.workspace, at), ['pre-commit'])));
}

/**
 * Replacing a guarded file from outside removes the mount that guards it. The new file must be guarded again, and what
 * a program did with it under its first name must not reach it.
 */
export async function attemptReplaced(fixture: EscapeFixture) {
  const own = await fixture.open({ tree: repositoryTree('.git/') });
  await own.run('true');
  const config = join(own.workspace, '.git/config');
  const evil = `echo '[core] fsmonitor = evil'`;
  writeFileSync(`${config}.lock`, `${settings}[user]\n\tname = person\n`);
  await own.run(`cd .git; (ln config.lock alias; ${evil} >> config.lock; mv config.lock gone; ${evil} > config.lock) 2>/dev/null
    exit 0`);
  renameSync(`${config}.lock`, config);
  await own.run(`(${evil} >> .git/config; ${evil} >> .git/alias; git config core.fsmonitor evil) 2>/dev/null; exit 0`);
  return toVerdict(findObeyed(join(own.workspace, '.git'), ['pre-commit']));
}

const bindSockets = `perl -MSocket -e 'for (qw(objects refs)) { socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($_)) }'`;

/** Every way to make git take a directory for a repository, with evil settings written before or after. */
export async function attemptNewRepositories(fixture: EscapeFixture) {
  const own = await fixture.open({ tree: repositoryTree('.git/') });
  const evil = `printf '[core]\\nfsmonitor = evil\\n'`;
  const ways: Readonly<Record<string, string>> = {
    'init/.git': `git init -q init; git -C init config core.fsmonitor evil; ${evil} >> init/.git/config`,
    bare: `git init -q --bare bare; ${evil} > bare/config; cp prober bare/hooks/pre-commit`,
    before: `mkdir -p before/objects; ${evil} > before/config; echo ref: refs/heads/main > before/HEAD; mkdir before/refs`,
    held: `mkdir -p held/objects; exec 9> held/config; echo ref: refs/heads/main > held/HEAD; mkdir held/refs; ${evil} >&9`,
    moved: `git init -q --bare m; mkdir away; mv m/refs away; ${evil} > m/config; mv away/refs m; mv m moved`,
    linked: `mkdir linked; ${evil} > linked/config; echo ref: refs/heads/main > linked/HEAD; ln -s /tmp linked/objects; ln -s /tmp linked/refs`,
    files: `mkdir files; ${evil} > files/config; echo ref: refs/heads/main > files/HEAD; touch files/objects files/refs; chmod +x files/*`,
    bound: `mkdir bound; ${evil} > bound/config; echo ref: refs/heads/main > bound/HEAD; cd bound; ${bindSockets}`,
    template: `mkdir -p t/hooks; cp prober t/hooks/pre-commit; git init -q --bare --template=t template`,
    'copied/.git': `git init -q c; cp -r c copied; rm -f copied/.git/config; ${evil} > copied/.git/config`,
  };
  for (const script of Object.values(ways)) await own.run(`(${script}) 2>/dev/null; exit 0`);
  return toVerdict(Object.keys(ways).map((at) => findObeyed(join(own.workspace, at), [])));
}

/**
 * Git directories outside the workspace: a `.git` file in it can lead git into the package caches, and a link
 * through `/proc/PID/root` to every other file of a sandbox.
 */
export async function attemptElsewhere(fixture: EscapeFixture) {
  const own = await fixture.open({ tree: repositoryTree('.git/') });
  const make = (at: string) =>
    `git init -q --bare ${at}/g; printf '[core]\\nfsmonitor = evil\\n' >> ${at}/g/config; cp prober ${at}/g/hooks/; cat ${at}/g/config; ls ${at}/g/hooks`;
  const { output } = await own.run(`(${['/tmp', '/dev/shm', '~'].map(make).join('; ')}) 2>/dev/null; exit 0`);
  return toVerdict(/evil|prober/.test(output) && 'git obeys what a program wrote outside the workspace');
}

/** Describes what git would execute because of this directory, if git takes it for a repository. */
export function findObeyed(directory: string, known: readonly string[]): Problem {
  const names = ['HEAD', 'objects', 'refs'];
  if (!names.every((name) => isExecutable(join(directory, name)) || name === 'HEAD')) return false;
  const config = join(directory, 'config');
  if (existsSync(config) && /evil/.test(readFileSync(config, 'utf8'))) return `${directory} has evil settings`;
  const hooks = existsSync(join(directory, 'hooks')) ? readdirSync(join(directory, 'hooks')) : [];
  const isEvil = (name: string) => /evil/.test(readFileSync(join(directory, 'hooks', name), 'latin1'));
  const others = hooks.filter((name) => (known.includes(name) ? isEvil(name) : !name.endsWith('.sample')));
  return others.length > 0 && `${directory} has the hook ${others[0]}`;
}

/** The file tools must refuse what commands are refused. */
export async function attemptByTools(fixture: EscapeFixture) {
  const tree = {
    ...repositoryTree('.git/'),
    '.mcp.json': '{}\n',
    '.vscode/tasks.json': '{}\n',
    '.bashrc': '# own\n',
    'own.txt': 'evil\n',
  };
  const own = await fixture.open({ tree });
  const files = [...gitControlPaths('.git/'), '.mcp.json', '.vscode/tasks.json', '.bashrc'];
  const changes = watchFiles(own.workspace, files);
  for (const file_path of [...files, '.git/hooks/post-checkout', '.vscode/new.json']) {
    await own.call('read', { file_path });
    await own.call('write', { file_path, content: '#!/bin/sh\nevil\n' });
    await own.call('edit', { file_path, old_string: '#', new_string: '# evil' });
    await own.call('move', { from: file_path, to: 'gone' });
    await own.call('delete', { file_path, recursive: true });
    await own.call('move', { from: 'own.txt', to: file_path });
  }
  return toVerdict(changes());
}

/**
 * Passes options as patterns and paths. ripgrep is the only program that gets text of callers; the server never runs
 * git.
 */
export async function attemptOptions(fixture: EscapeFixture) {
  const own = await fixture.open({
    tree: { 'evil.sh': "#!/bin/sh\nprintf 'was %s\\n' run\n", 'a.txt': 'plain\n', '--pre=evil': 'plain\n' },
  });
  const options = [
    `--pre=${own.inside}/evil.sh`,
    '--pre=./evil.sh',
    `--hostname-bin=${own.inside}/evil.sh`,
    '-f/etc/passwd',
    '--upload-pack=./evil.sh',
  ];
  const calls = options.flatMap((option) => [
    own.call('grep', { pattern: option }),
    own.call('grep', { pattern: 'plain', path: option }),
    own.call('grep', { pattern: 'plain', glob: option }),
    own.call('glob', { pattern: option }),
  ]);
  const problems = (await Promise.all(calls)).map(
    ({ text }): Problem => /was run|root:/.test(text) && 'an option was obeyed',
  );
  return toVerdict(problems);
}

/** Guarding files must leave nothing behind in a repository that the user's git would find. */
export async function attemptLeftovers(fixture: EscapeFixture) {
  const own = await fixture.open({ tree: repositoryTree('.git/') });
  const before = listAll(own.workspace);
  await own.run('git status; git config user.name x; echo x > .git/hooks/x; sleep 60 & exit 0');
  await own.reopen();
  const allowed = new Set([...before, '.git/index']);
  const ghosts = listAll(own.workspace).filter((name) => !allowed.has(name));
  const gone = before.filter((name) => !existsSync(join(own.workspace, name)));
  return toVerdict(
    ghosts.map((name) => `${name} was left`),
    gone.map((name) => `${name} is gone`),
  );
}

function listAll(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}
