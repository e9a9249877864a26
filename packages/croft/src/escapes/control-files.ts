import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attackFiles } from './attack-files.ts';
import { attemptOwnPolicy, attemptServerCode } from './attempt-own-policy.ts';
import type { Escape, EscapeFixtureOptions } from './escape.ts';
import { toVerdict } from './to-verdict.ts';
import { watchFiles } from './watch-files.ts';

const shells = ['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.zshrc', '.zshenv', '.inputrc'];
const editors = [
  ...['.vscode/settings.json', '.vscode/tasks.json', '.idea/workspace.xml', '.husky/pre-commit'],
  ...['.claude/settings.json', '.claude/commands/do.md', '.claude/agents/one.md', '.claude/skills/a/SKILL.md'],
  ...['.codex/config.toml', '.cursor/mcp.json', '.gemini/settings.json', '.devcontainer/devcontainer.json'],
];

/** C: files that programs outside the sandbox obey later. */
export const controlFiles: readonly Escape[] = [
  guardedFilesEscape('C45', 'what a shell reads when it starts', shells),
  guardedFilesEscape('C46', 'what editors and agents read when they start', [...editors, '.mcp.json']),
  guardedFilesEscape('C46b', 'what agents share', ['.agents/skills/a/SKILL.md', '.agents/one.md']),
  {
    id: 'C46c',
    title: 'what editors and agents would read, where there was none',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({});
      const names = [...editors, '.mcp.json', '.bashrc', 'all.code-workspace'];
      const makes = names.map(
        (name) => `mkdir -p $(dirname ${name}); echo evil > ${name}; echo evil > new; mv new ${name}`,
      );
      await own.run(`${makes.join('\n')}\nmkdir evil; echo evil > evil/tasks.json; mv evil .zed; ln -s evil .windsurf`);
      const made = [...names, '.zed/tasks.json', '.windsurf/tasks.json'];
      return toVerdict(made.filter((name) => existsSync(join(own.workspace, name))).map((name) => `${name} was made`));
    },
  },
  {
    id: 'C46e',
    title: 'names that a directory which ignores case takes for names that programs obey',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: { '.git/HEAD': 'ref: refs/heads/main\n', 'src/a': '' } });
      const names = ['.VSCODE', '.Claude', '.git.', 'lib/.GIT', 'GIT~1', '.git/HOOKS', '.g\u200cit', '.husKy', '.Zed '];
      const files = ['.MCP.json', '.git/Config', '.GitConfig', 'all.CODE-workspace'];
      const makes = [...names.map((name) => `mkdir '${name}'`), ...files.map((name) => `echo evil > '${name}'`)];
      const moves = `mkdir evil; mv evil .IDEA; ln -s src .Cursor; touch a; ln a .Zshrc; cp a b; mv b .BASHRC`;
      await own.run(`mkdir lib; ${makes.join('; ')}; ${moves}`);
      const written = await own.call('write', { file_path: '.WINDSURF/a', content: 'evil' });
      const all = [...names, ...files, '.IDEA', '.Cursor', '.Zshrc', '.BASHRC'];
      return toVerdict(
        all.filter((name) => existsSync(join(own.workspace, name))).map((name) => `${name} was made`),
        !written.isError && 'a tool made .WINDSURF',
      );
    },
  },
  {
    id: 'C46d',
    title: 'what editors and agents read in a repository of the workspace, which the person may open too',
    guards: ['control-files'],
    async attempt(fixture) {
      const files = editors.map((name) => `deep/er/${name}`);
      const tree = Object.fromEntries(files.map((file) => [file, 'own\n']));
      const own = await fixture.open({ tree: { ...tree, 'deep/er/.git/HEAD': 'ref: refs/heads/main\n' } });
      const changes = watchFiles(own.workspace, files);
      await own.run(files.map((file) => `echo evil > ${file}; rm ${file}; echo evil > new; mv new ${file}`).join('\n'));
      return toVerdict(changes());
    },
  },
  guardedFilesEscape('C47', 'what git reads in a home', ['.gitconfig']),
  {
    id: 'C48',
    title: 'a link at a control path, and what it leads to',
    guards: ['control-files'],
    async attempt(fixture) {
      const own = await fixture.open({
        tree: { 'shared/mcp.json': '{}', 'shared/rules/a.md': 'a', '.vscode/a.json': '{}' },
      });
      const links = { '.mcp.json': 'shared/mcp.json', '.cursor': 'shared/rules', deep: '.vscode' };
      for (const [name, target] of Object.entries(links)) symlinkSync(target, join(own.workspace, name));
      await own.reopen();
      return toVerdict(
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
    async attempt(fixture) {
      const own = await fixture.open({});
      await own.run(`mkdir .claude; ln -s ${own.outside} .claude/worktrees; ln -s ${own.outside}/new made`);
      const paths = ['.claude/worktrees/a/b', 'made/a', 'made', '.claude/worktrees/canary'];
      const wrote = await Promise.all(paths.map((path) => own.call('write', { file_path: path, content: 'evil' })));
      const made = ['a', 'new'].filter((name) => existsSync(join(own.outside, name)));
      return toVerdict(
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
    async attempt(fixture) {
      const evil = (to: string) => `cat ../outside/canary; echo evil > ../outside/${to}`;
      const own = await fixture.open({
        tree: {
          'package.json': JSON.stringify({ scripts: { pretest: evil('npm'), test: evil('npm') } }),
          Makefile: `all:\n\t${evil('make')}\n`,
          'conftest.py': `import os\nos.system(${JSON.stringify(evil('pytest'))})\n`,
          '.envrc': evil('direnv'),
        },
      });
      await own.run('npm test; make; python3 conftest.py; bash .envrc; exit 0');
      const written = ['npm', 'make', 'pytest', 'direnv'].filter((name) => existsSync(join(own.outside, name)));
      return toVerdict(written.map((name) => `${name} wrote outside`));
    },
  },
];

/** Attacks the files, and the control directories that contain them. */
function guardedFilesEscape(id: string, title: string, files: readonly string[]): Escape {
  const folders = files
    .filter((file) => /\/\.\w+\/|^\.\w+\//.test(file))
    .map((file) => file.replace(/(\.\w+)\/.*$/, '$1'));
  const tree = Object.fromEntries(files.map((file) => [file, '# as the user wrote it\n']));
  const options: EscapeFixtureOptions = { tree };
  return {
    id,
    title,
    guards: ['control-files'],
    attempt: async (fixture) =>
      toVerdict(await attackFiles(await fixture.open(options), [...files, ...new Set(folders)])),
  };
}
