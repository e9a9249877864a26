import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configText, makePerson, type Person, settings, spellings } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/** Settings that cannot run anything pass; those that can are refused, whichever way git writes them. */

let person: Person;
let workspaces: Workspaces;
let workspace: ReturnType<Workspaces['take']>;
beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, { count: 8 });
  workspace = workspaces.take();
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

const safe = {
  'user.name': 'Grace',
  'user.email': 'grace@example.test',
  'remote.spare.url': 'https://example.test/spare.git',
  'remote.spare.fetch': '+refs/heads/*:refs/remotes/spare/*',
  'branch.main.remote': 'origin',
  'branch.main.merge': 'refs/heads/main',
  'branch.main.rebase': 'true',
  'branch.topic.description': 'what it is for',
  'core.filemode': 'false',
  'core.autocrlf': 'input',
  'core.ignorecase': 'false',
  'core.quotePath': 'false',
  'pull.rebase': 'true',
  'push.default': 'simple',
  'push.autoSetupRemote': 'true',
  'fetch.prune': 'true',
  'merge.conflictStyle': 'diff3',
  'rebase.autoStash': 'true',
  'rerere.enabled': 'true',
  'init.defaultBranch': 'main',
  'submodule.vendor/lib.url': 'https://example.test/lib.git',
  'submodule.vendor/lib.active': 'true',
  'color.ui': 'auto',
  'commit.verbose': 'true',
};

test.each(Object.entries(safe))('passes: %s', async (key, value) => {
  const { structured, text } = await workspace.bash(`git config '${key}' '${value}'`);
  expect(structured, text).toMatchObject({ exitCode: 0, denials: [] });
  expect(person.shell(workspace.top, `git config --get '${key}'`)).toBe(`${value}\n`);
});

/** Beyond those that canaries use. */
const more = {
  'core.worktree': '/tmp',
  'core.gitProxy': 'evil',
  'core.alternateRefsCommand': 'evil',
  'difftool.evil.cmd': 'evil',
  'mergetool.evil.cmd': 'evil',
  'extensions.worktreeConfig': 'true',
  'gpg.ssh.program': 'evil',
  'gpg.ssh.defaultKeyCommand': 'evil',
  'interactive.diffFilter': 'evil',
  'man.evil.cmd': 'evil',
  'pager.diff': 'evil',
  'remote.origin.receivepack': 'evil',
  'remote.origin.vcs': 'evil',
  'submodule.vendor/lib.update': '!evil',
  'tar.evil.command': 'evil',
  'trailer.evil.command': 'evil',
  'trailer.evil.cmd': 'evil',
  'uploadpack.packObjectsHook': 'evil',
  'url.ext::evil.insteadOf': 'https://',
  'browser.evil.cmd': 'evil',
  'sendemail.smtpServer': '/tmp/evil',
  'credential.https://example.test.helper': '!evil',
  'hook.evil.command': 'evil',
};

const refused = { ...settings, ...more };
const configOf = (top: string) => readFileSync(`${top}/.git/config`, 'utf8');

test.each(Object.keys(refused))('refused and reported: %s', async (key) => {
  const before = configOf(workspace.top);
  const value = (refused[key as keyof typeof refused] ?? '').replace('TOP', workspace.top);
  const { text, structured } = await workspace.bash(`git config '${key}' '${value}'; echo "exit $?"; exit 0`);
  expect(configOf(workspace.top)).toBe(before);
  expect(text).toMatch(/^exit [1-9]/m);
  // Told by the fence, whatever git printed and however the command ended.
  expect(structured.denials.map(({ target }: { target: string }) => target).join()).toContain('.git/config');
});

test.each(Object.entries(spellings))('refused in every spelling: %s', async (_, spell) => {
  const { top, call, visitWithGit } = take();
  const before = configOf(top);
  await call('write', { file_path: 'new', content: before + configText(top, 'core.fsmonitor', spell) });
  await call('bash', {
    command: 'cp new .git/config.lock && mv .git/config.lock .git/config; cat new > .git/config; exit 0',
  });
  expect(configOf(top)).toBe(before);
  expect(await visitWithGit()).toEqual([]);
});

test('an allowed setting does not let another pass', async () => {
  const { top, bash, visitWithGit } = take();
  const inject =
    'git config user.name "x\n[core]\n\tfsmonitor = evil"; git config "user.x]\n[core" y; git config branch.a.merge "\\"\n[core]fsmonitor=evil"';
  await bash(`${inject}; git config --rename-section user core; git config core.fsmonitor.x y; exit 0`);
  expect(person.shell(top, 'git config --get core.fsmonitor || echo none')).toBe('none\n');
  expect(await visitWithGit()).toEqual([]);
});

test('settings of the person stay when a safe setting is written', async () => {
  const { top, bash } = take();
  person.shell(top, 'git config core.editor "vim -n"; git config alias.co checkout; git config core.hooksPath .mine');
  const { structured, text } = await bash(
    'git config user.name Grace && git remote add more url && git branch -q b && git config --unset user.name',
  );
  expect(structured, text).toMatchObject({ exitCode: 0 });
  expect(person.shell(top, 'git config core.editor; git config alias.co; git config core.hooksPath; git remote')).toBe(
    'vim -n\ncheckout\n.mine\naway\nmore\norigin\nweb\n',
  );
});

test('a setting of the person that runs a program cannot be removed or changed', async () => {
  const { top, bash } = take();
  person.shell(top, 'git config core.hooksPath .mine; git config diff.external "mine --safe"');
  const before = configOf(top);
  await bash(
    'git config --unset core.hooksPath; git config diff.external evil; git config --remove-section diff; exit 0',
  );
  expect(person.shell(top, 'git config diff.external')).toBe('mine --safe\n');
  expect(configOf(top)).toContain(before.match(/hooksPath.*/)?.[0] ?? 'no setting');
});

function take() {
  const taken = workspaces.take();
  return { ...taken, visitWithGit: () => person.inspect(taken.top) };
}
