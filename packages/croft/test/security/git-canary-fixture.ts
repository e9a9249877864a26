import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeDirectory } from '../support/harness.ts';

/**
 * A canary is a command that records who ran it, in a file that only the user's environment names: inside the sandbox
 * it does nothing. It has no quotes, so that it can be written in any language.
 */
export const canary = (label: string) => `echo ${label} in $PWD>>\${CROFT_CANARY:-/dev/null};true`;
const isObeyed = (line: string) => line.includes('CROFT_CANARY') && !line.includes(' remote.evil.url=');

/** Hooks that the user's commands run. */
export const hookNames = ['pre-commit', 'post-commit', 'post-index-change', 'reference-transaction', 'post-checkout'];
export const hookText = `#!/bin/sh\n${canary('hook')}\n`;

/** Settings that make git run a program, each with a canary. Attributes send every file to `evil`. */
export const settings: Readonly<Record<string, string>> = {
  'core.fsmonitor': canary('core.fsmonitor'),
  'core.hooksPath': 'TOP/evil/hooks',
  'core.pager': canary('core.pager'),
  'pager.log': canary('pager.log'),
  'core.editor': canary('core.editor'),
  'core.sshCommand': canary('core.sshCommand'),
  'core.askPass': 'TOP/evil/hooks/pre-commit',
  'alias.st': `!${canary('alias.st')}`,
  'filter.evil.clean': canary('filter.evil.clean'),
  'filter.evil.smudge': canary('filter.evil.smudge'),
  'filter.evil.process': canary('filter.evil.process'),
  'diff.external': canary('diff.external'),
  'diff.evil.textconv': canary('diff.evil.textconv'),
  'diff.evil.command': canary('diff.evil.command'),
  'merge.evil.driver': canary('merge.evil.driver'),
  'credential.helper': `!${canary('credential.helper')}`,
  'gpg.program': 'TOP/evil/hooks/pre-commit',
  'include.path': 'TOP/evil/included',
  'includeIf.gitdir:/.path': 'TOP/evil/included',
  'remote.origin.uploadpack': canary('remote.origin.uploadpack'),
  'protocol.ext.allow': 'always',
  'sequence.editor': canary('sequence.editor'),
};

/** Name of the file in `evil/keys` that sets the key. */
export const nameOfKey = (key: string) => key.replace(/[:/]+/, '-');

/** Harmless settings, without which some others do nothing. */
const companions = `[commit]
\tgpgSign = true
[remote "evil"]
\turl = "ext::sh -c ${canary('protocol.ext.allow').replaceAll(' ', '% ')}"
`;

type Spelling = (section: string, sub: string, name: string, value: string) => string;

/** Spellings that git reads as the same setting. */
export const spellings: Readonly<Record<string, Spelling>> = {
  usual: (section, sub, name, value) => `[${section}${sub && ` "${sub}"`}]\n\t${name} = "${value}"\n`,
  'upper case': (section, sub, name, value) =>
    `[${section.toUpperCase()}${sub && ` "${sub}"`}]\n${name.toUpperCase()}="${value}"\n`,
  'one line': (section, sub, name, value) => `[x "a]b=\\"c"][${section}${sub && ` "${sub}"`}]${name} = "${value}"\n`,
  'broken lines': (section, sub, name, value) => {
    const half = value.length >> 1;
    return `\ufeff# [x]\r\n[${section}${sub && ` "${sub}"`}] # ]\r\n ${name} \t=  "${value.slice(0, half)}\\\n${value.slice(half)}" ; "\r\n`;
  },
};

/** Lines of a configuration file that set the key, or every key. */
export function configText(top: string, key?: string, spell: Spelling = spellings.usual as Spelling): string {
  const chosen = Object.entries(settings).filter(([name]) => key === undefined || name === key);
  const lines = chosen.map(([name, value]) => {
    const [section = '', ...rest] = name.split('.');
    return spell(section, rest.slice(0, -1).join('.'), rest.at(-1) ?? '', value.replace('TOP', top));
  });
  return lines.join('') + companions;
}

/** Files in `evil` at the top of a workspace, from which attacks copy. No program looks there. */
export function evilFiles(top: string): Record<string, string> {
  const hooks = Object.fromEntries(hookNames.map((name) => [`evil/hooks/${name}`, hookText]));
  const template = Object.fromEntries(hookNames.map((name) => [`evil/template/hooks/${name}`, hookText]));
  const single = Object.keys(settings).map((key) => [`evil/keys/${nameOfKey(key)}`, configText(top, key)]);
  const attributes = '* filter=evil diff=evil merge=evil\n';
  return {
    ...hooks,
    ...template,
    ...Object.fromEntries(single),
    'evil/included': configText(top, 'core.fsmonitor'),
    'evil/all': configText(top),
    'evil/template/config': configText(top),
    'evil/attributes': attributes,
    '.gitattributes': attributes,
  };
}

export function writeFiles(top: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), content, { mode: content.startsWith('#!') ? 0o755 : 0o644 });
  }
}

/**
 * The user's repository: two branches that conflict, and remotes by path, by ssh and by a server that wants a password.
 */
const story = `set -e
git init -q -b main .
printf 'one\\n' > seed.txt; printf 'one\\n' > merged.txt; mkdir .vscode; echo '{}' > .vscode/settings.json
git add .; git commit -qm first
git checkout -q -b side; echo side > merged.txt; git commit -qam side
git checkout -q main; echo main > merged.txt; git commit -qam main
rm -f .git/hooks/*; git clone -q --bare . "$ORIGIN"
git remote add origin "$ORIGIN"; git remote add away ssh://127.0.0.1:9/away; git remote add web "$WEB"`;

/** Actions of the user in each repository. */
const everyday = `
[ -f seed.txt ] && echo more >> seed.txt
git status; git diff; git log -p -2; git stash list; git st; git diff main side
git commit --allow-empty -m x; git commit --allow-empty -a
git stash push; git stash pop
git fetch --all
git checkout -q -f; git merge side; git merge --abort
git rebase -i HEAD~1; git rebase --abort`;

/** Records which settings git obeys in each repository, and visits it. */
const visitAll = `
for each; do
  cd "$each" && git rev-parse --git-dir || continue
  git config --list --includes | sed "s|^|$each obeys |" >> $LISTED
  visit
done`;

const personSettings =
  '[user]\n\tname = Ada\n\temail = ada@example.test\n[safe]\n\tdirectory = *\n[init]\n\tdefaultBranch = main\n';

/** Makes a user's machine: a home, a repository to copy, and a file for canaries. */
export async function makePerson() {
  const home = makeDirectory({ '.gitconfig': personSettings });
  const web = createServer((_, response) => response.writeHead(401, { 'www-authenticate': 'Basic' }).end()).listen(0);
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/web`;
  const environment = {
    PATH: process.env.PATH,
    HOME: home.path,
    ...{ EDITOR: 'true', PAGER: 'cat', GIT_SSH: '/bin/false', GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' },
    ...{ ORIGIN: home.at('origin.git'), WEB: url },
  };
  const shell = (top: string, text: string) =>
    execFileSync('bash', ['-c', text], { cwd: top, env: environment, stdio: ['ignore', 'pipe', 'pipe'] }).toString();
  let visits = 0;
  async function visit(top: string, script: string): Promise<string[]> {
    const visit = home.at(`visit-${++visits}`);
    mkdirSync(visit);
    const env = { ...environment, CROFT_CANARY: join(visit, 'ran'), LISTED: join(visit, 'listed') };
    await runOnTerminal(`visit() { ${script}\n}\n${visitAll}`, findRepositories(top), env);
    const lines = readLines(join(visit, 'listed')).filter(isObeyed);
    const obeyed = lines.map((line) => line.replace(/^(\S+ [^=]*)=.*/, '$1'));
    return [...new Set([...readLines(join(visit, 'ran')), ...obeyed])].map((line) => line.replaceAll(top, '<top>'));
  }
  mkdirSync(home.at('template'));
  shell(home.at('template'), story);
  return {
    home,
    shell,
    /** The same for a script that may fail. */
    try: (top: string, text: string) => void attempt(() => shell(top, text)),
    copyRepository: (top: string) => void execFileSync('cp', ['-a', home.at('template'), top]),
    /** Does the user's whole work in every repository of the tree. Returns the canaries that ran or would run. */
    work: (top: string) => visit(top, everyday),
    /** Only runs `git status` and a commit in every repository, which runs `core.fsmonitor` and hooks. */
    inspect: (top: string) => visit(top, 'git status; git commit --allow-empty -m x'),
    [Symbol.dispose]() {
      web.close();
      web.closeAllConnections();
      home[Symbol.dispose]();
    },
  };
}

export type Person = Awaited<ReturnType<typeof makePerson>>;

/** Runs on a terminal, because git starts a pager only there. */
async function runOnTerminal(script: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const command = ['-qec', `bash -c '${script}' person ${words.map((word) => `'${word}'`).join(' ')}`, '/dev/null'];
  // Most commands fail, as expected: most repositories have nothing to merge or fetch.
  const ended = promisify(execFile)('script', command, { env, timeout: 100_000, maxBuffer: 1e8 });
  await ended.catch((error: { killed?: boolean }) => {
    if (error.killed) throw new Error('the person’s git did not come to an end', { cause: error });
  });
}

const readLines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);

/** Returns the top, and every directory that git may take for a repository or a part of one. */
function findRepositories(top: string): string[] {
  const found = spawnSync('find', [top, '(', '-name', '.git', '-o', '-name', 'HEAD', ')', '-printf', '%h\\n']);
  const parents = found.stdout.toString().split('\n').filter(Boolean);
  return [...new Set([top, ...parents.filter((path) => !/\/(refs|logs)(\/|$)|\/\.git$/.test(path))])];
}

function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}
