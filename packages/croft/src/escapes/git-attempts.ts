import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Ground } from './escape.ts';
import { watchFiles } from './steadfast.ts';
import { type Problem, verdict } from './verdict.ts';

export const settings = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';

/** As much of a repository as git needs to take it for one. */
export const repository = (at: string) => ({
  [`${at}HEAD`]: 'ref: refs/heads/main\n',
  [`${at}config`]: settings,
  [`${at}hooks/pre-commit`]: '#!/bin/sh\n',
  [`${at}info/attributes`]: '*.bin binary\n',
  [`${at}objects/info/x`]: '',
  [`${at}refs/heads/x`]: '',
});
export const steering = (at: string) => ['hooks/pre-commit', 'hooks', 'config'].map((name) => `${at}${name}`);

export const linkedWorktree = {
  'linked/.git': 'gitdir: ../.git/worktrees/linked\n',
  '.git/worktrees/linked/HEAD': 'ref: refs/heads/x\n',
  '.git/worktrees/linked/commondir': '../..\n',
  '.git/worktrees/linked/gitdir': '../../../linked/.git\n',
};

/** What a command may not do, nobody may do for it. */
export async function attemptByTools(ground: Ground) {
  const tree = {
    ...repository('.git/'),
    '.mcp.json': '{}\n',
    '.vscode/tasks.json': '{}\n',
    '.bashrc': '# own\n',
    'own.txt': 'evil\n',
  };
  const own = await ground.open({ tree });
  const files = [...steering('.git/'), '.mcp.json', '.vscode/tasks.json', '.bashrc'];
  const changes = watchFiles(own.workspace, files);
  for (const file_path of [...files, '.git/hooks/post-checkout', '.vscode/new.json']) {
    await own.call('read', { file_path });
    await own.call('write', { file_path, content: '#!/bin/sh\nevil\n' });
    await own.call('edit', { file_path, old_string: '#', new_string: '# evil' });
    await own.call('move', { from: file_path, to: 'gone' });
    await own.call('delete', { file_path, recursive: true });
    await own.call('move', { from: 'own.txt', to: file_path });
  }
  return verdict(changes());
}

/** The one program that the server hands words of a caller to is the search; it starts no git at all. */
export async function attemptOptions(ground: Ground) {
  const own = await ground.open({
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
  return verdict(problems);
}

/** Two things are put where they are missing, so that nobody else can; the user's git must find nothing but those. */
export async function attemptLeftovers(ground: Ground) {
  const own = await ground.open({ tree: repository('.git/') });
  const before = listAll(own.workspace);
  await own.run('git status; git config user.name x; echo x > .git/hooks/x; sleep 60 & exit 0');
  await own.reopen();
  const allowed = new Set([...before, '.git/commondir', '.git/config.worktree', '.git/index']);
  const ghosts = listAll(own.workspace).filter((name) => !allowed.has(name));
  const gone = before.filter((name) => !existsSync(join(own.workspace, name)));
  return verdict(
    ghosts.map((name) => `${name} was left`),
    gone.map((name) => `${name} is gone`),
  );
}

function listAll(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' });
}
