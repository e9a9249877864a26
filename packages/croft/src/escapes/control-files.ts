import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { attemptOwnPolicy, attemptServerCode } from './control-attempts.ts';
import type { Escape, GroundOptions } from './escape.ts';
import { attackFiles } from './steadfast.ts';
import { verdict } from './verdict.ts';

const shells = ['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv', '.inputrc'];
const editors = [
  ...['.mcp.json', '.vscode/settings.json', '.vscode/tasks.json', '.idea/workspace.xml', '.envrc', '.husky/pre-commit'],
  ...['.claude/settings.json', '.claude/commands/do.md', '.claude/agents/one.md', '.claude/skills/a/SKILL.md'],
  ...['.codex/config.toml', '.cursor/mcp.json', '.gemini/settings.json', '.devcontainer/devcontainer.json'],
];
const programs = ['.gitconfig', '.gitmodules', '.ripgreprc', '.vimrc', '.exrc', '.gdbinit', '.lldbinit', '.emacs'];

/** C: files that steer programs outside, later. */
export const controlFiles: readonly Escape[] = [
  holding('C45', 'what a shell reads when it starts', shells),
  holding('C46', 'what editors and agents read when they start', editors),
  holding('C46b', 'what agents share', ['.agents/skills/a/SKILL.md', '.agents/one.md']),
  holding('C47', 'what git, search and debuggers read when they start', programs),
  {
    id: 'C48',
    title: 'a link at a control path, and what it leads to',
    guards: ['control-files'],
    async attempt(ground) {
      const own = await ground.open({
        tree: { 'shared/mcp.json': '{}', 'shared/rules/a.md': 'a', '.vscode/a.json': '{}' },
      });
      await own.run('ln -s shared/mcp.json .mcp.json; ln -s shared/rules .cursor; ln -s ../.vscode deep');
      // A link that was there before is as much the user's as a file.
      await own.reopen();
      return verdict(
        await attackFiles(own, ['.mcp.json', '.cursor', 'shared/mcp.json', 'shared/rules/a.md', '.vscode/a.json']),
      );
    },
  },
  {
    id: 'C49',
    title: 'a policy of its own, written into the workspace',
    guards: ['network', 'mounts'],
    attempt: attemptOwnPolicy,
  },
  {
    id: 'C50',
    title: 'a link where a tool makes directories',
    guards: ['files'],
    async attempt(ground) {
      const own = await ground.open({});
      await own.run(`mkdir .claude; ln -s ${own.outside} .claude/worktrees; ln -s ${own.outside}/new made`);
      const paths = ['.claude/worktrees/a/b', 'made/a', 'made', '.claude/worktrees/canary'];
      const wrote = await Promise.all(paths.map((path) => own.call('write', { file_path: path, content: 'evil' })));
      const made = ['a', 'new'].filter((name) => existsSync(join(own.outside, name)));
      return verdict(
        wrote.map(({ isError }, index) => !isError && `write ${paths[index]} was not refused`),
        made.map((name) => `${name} was made outside`),
      );
    },
  },
  {
    id: 'C51',
    title: 'code of a repository that the server runs, or has run',
    guards: ['mounts'],
    attempt: attemptServerCode,
  },
  {
    id: 'C52',
    title: 'scripts of a repository, run as one runs them',
    guards: ['mounts'],
    async attempt(ground) {
      const evil = (to: string) => `cat ../outside/canary; echo evil > ../outside/${to}`;
      const own = await ground.open({
        tree: {
          'package.json': JSON.stringify({ scripts: { pretest: evil('npm'), test: evil('npm') } }),
          Makefile: `all:\n\t${evil('make')}\n`,
          'conftest.py': `import os\nos.system(${JSON.stringify(evil('pytest'))})\n`,
          '.envrc': evil('direnv'),
        },
      });
      await own.run('npm test; make; python3 conftest.py; bash .envrc; exit 0');
      const written = ['npm', 'make', 'pytest', 'direnv'].filter((name) => existsSync(join(own.outside, name)));
      return verdict(written.map((name) => `${name} wrote outside`));
    },
  },
];

/** Each at the top and deep down, with the directories that are control files as a whole. */
function holding(id: string, title: string, names: readonly string[]): Escape {
  const files = ['', 'deep/er/'].flatMap((place) => names.map((name) => `${place}${name}`));
  const folders = files
    .filter((file) => /\/\.\w+\/|^\.\w+\//.test(file))
    .map((file) => file.replace(/(\.\w+)\/.*$/, '$1'));
  const options: GroundOptions = { tree: Object.fromEntries(files.map((file) => [file, '# as the user wrote it\n'])) };
  return {
    id,
    title,
    guards: ['control-files'],
    attempt: async (ground) => verdict(await attackFiles(await ground.open(options), [...files, ...new Set(folders)])),
  };
}
