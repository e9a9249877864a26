import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The same identity, language and settings inside and outside the sandbox, so that hashes and messages are equal. */
const steady = {
  LC_ALL: 'C',
  TZ: 'UTC',
  TERM: 'dumb',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.test',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.test',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
};
const hostEnvironment = { ...steady, PATH: process.env.PATH, HOME: '/nonexistent' };

/** Result of one command line. */
export interface Ran {
  readonly line: string;
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

const storyStart = 1_700_000_000;
const scenarioStart = storyStart + 86_400;

/**
 * A script that runs each line in one shell and prints how it ended. Every line has its own date, a minute after the
 * last.
 */
export function toScript(lines: readonly string[], start = scenarioStart): string {
  const exports = Object.entries(steady).map(([name, value]) => `export ${name}='${value}'`);
  const runs = lines.map((line, index) => `run ${start + index * 60} '${line.replaceAll("'", "'\\''")}'`);
  return [...exports, runFunction, ...runs, 'exit 0'].join('\n');
}

const runFunction = `
kept=$(mktemp -d)
run() {
  export GIT_AUTHOR_DATE="$1 +0000"
  export GIT_COMMITTER_DATE="$GIT_AUTHOR_DATE"
  eval "$2" >"$kept/out" 2>"$kept/err" </dev/null
  printf '@@exit %s\\n' $?
  cat "$kept/out"; printf '\\n@@err\\n'; tr '\\r' '\\n' < "$kept/err"; printf '\\n'
}`;

/** Reads the output of a script of `toScript`; the path of the tree becomes `<top>`. */
export function readRuns(lines: readonly string[], printed: string, top: string): Ran[] {
  const parts = printed
    .replaceAll(top, '<top>')
    .split(/^@@exit /m)
    .slice(1);
  if (parts.length !== lines.length) throw new Error(`${parts.length} of ${lines.length} lines ran:\n${printed}`);
  return parts.map((part, index) => {
    const [head = '', err = ''] = part.split(/^@@err$/m);
    const newline = head.indexOf('\n');
    const out = head.slice(newline + 1).trimEnd();
    return { line: lines[index] ?? '', exit: Number(head.slice(0, newline)), out, err: err.trim() };
  });
}

/** Runs the lines with the host's own git. */
export async function runOutside(top: string, lines: readonly string[], start = scenarioStart): Promise<Ran[]> {
  const options = { cwd: top, env: hostEnvironment, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)('bash', ['-c', toScript(lines, start)], options);
  return readRuns(lines, stdout, top);
}

export const hostGit = (directory: string, ...argv: string[]): string =>
  execFileSync('git', argv, {
    cwd: directory,
    env: hostEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

export function writeTree(top: string, tree: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), content);
  }
}

/** Control files that a team keeps under version control. */
export const trackedControls = {
  '.vscode/settings.json': '{ "editor.tabSize": 2 }\n',
  '.claude/settings.json': '{ "model": "one" }\n',
  '.mcp.json': '{ "mcpServers": {} }\n',
  '.envrc': 'export STAGE=dev\n',
  '.husky/pre-commit': '#!/bin/sh\nexit 0\n',
};

/** Control files of which commands get a private copy, alone or with their directory. */
export const privateFiles = ['.vscode/settings.json', '.claude/settings.json', '.mcp.json'] as const;

const plainFiles = {
  'README.md': 'one\ntwo\nthree\n',
  'src/a.txt': 'a\n',
  '.gitignore': 'remotes/\n',
};

/** Each line is one commit or one branch. `remotes` holds what the repository fetches from. */
const story: readonly string[] = [
  'git init -q -b main remotes/work-lib && cd remotes/work-lib',
  'echo lib > lib.txt && git add . && git commit -qm "lib: first"',
  'cd ../.. && git clone -q --bare remotes/work-lib remotes/lib.git && rm -rf remotes/work-lib',
  'git init -q -b main',
  'git -c protocol.file.allow=always submodule --quiet add ./remotes/lib.git vendor/lib',
  'git config -f .gitmodules submodule.vendor/lib.url ../lib.git',
  'git add . && git commit -qm first',
  'git checkout -q -b feature && echo \'{ "editor.tabSize": 4 }\' > .vscode/settings.json',
  'echo \'{ "version": "2.0.0" }\' > .vscode/tasks.json && echo feature >> src/a.txt && echo two > .mcp.json',
  'git add . && git commit -qm feature',
  'git checkout -q -b side main && echo \'{ "model": "two" }\' > .claude/settings.json && echo side > src/side.txt',
  'git add . && git commit -qm side',
  'git checkout -q -b plain main && git rm -rqf .vscode .claude && git commit -qm "no settings"',
  'git checkout -q -b conflict main && sed -i s/two/TWO/ README.md && git commit -qam conflict',
  'git checkout -q main && sed -i s/two/2/ README.md && git commit -qam second',
  'echo b > src/b.txt && git add . && git commit -qm third',
  'git submodule --quiet deinit -f vendor/lib && rm -rf .git/modules && git config --remove-section submodule.vendor/lib || true',
  'git clone -q --bare . remotes/origin.git',
  'git fetch -q remotes/origin.git "+refs/heads/*:refs/remotes/origin/*"',
  // Fewer files make the copies faster.
  'for each in .git remotes/*; do rm -f $each/hooks/*; git -C $each gc -q --prune=now; done',
];

/** A repository with tracked control files that differ between its branches. */
export async function makeTemplate(top: string): Promise<void> {
  writeTree(top, { ...plainFiles, ...trackedControls });
  for (const { line, exit, err } of await runOutside(top, story, storyStart)) {
    if (exit !== 0) throw new Error(`${line}: ${err}`);
  }
}

/** Copies the template and updates the path of its remote. */
export function copyTemplate(template: string, top: string): void {
  execFileSync('cp', ['-a', template, top]);
  const remote = `[remote "origin"]\n\turl = ${top}/remotes/origin.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
  const tracking = '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n';
  appendFileSync(join(top, '.git/config'), remote + tracking);
}
