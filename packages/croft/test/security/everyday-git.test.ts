import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { around } from './everyday-git-around.ts';
import { changes } from './everyday-git-changes.ts';
import {
  copyTemplate,
  makeTemplate,
  privateFiles,
  type Ran,
  readRuns,
  runOutside,
  toScript,
  trackedControls,
} from './git-fixture.ts';

/**
 * Everyday git inside the sandbox, beside the same commands outside on a twin of the repository. Inside nothing may
 * differ. Outside, the person's tree is the twin's, but for editor and agent settings, which stay as they were.
 */

/** The state of a repository as a later reader sees it. */
const view = [
  'cd "$top"',
  'git status --porcelain --branch',
  'git log --all --format="%h %p %an %ad %s%d"',
  'git for-each-ref',
  'git stash list',
  'git config --local --list | sort',
  'git submodule status',
  'git worktree list',
  'git fsck --no-dangling',
  'find . -name .git -prune -o -path ./remotes -prune -o -type f -print0 | sort -z | xargs -0 sha1sum',
  'find . -name .git -prune -o -path ./remotes -prune -o -type f -perm -u+x -print -o -type l -print | sort',
  'git -C remotes/origin.git for-each-ref',
];

const scenarios = { ...around, ...changes };
const names = Object.keys(scenarios);
const inside = makeDirectory();
const outside = makeDirectory();
let session: McpSession;

beforeAll(async () => {
  using template = makeDirectory();
  await makeTemplate(template.path);
  for (const name of names) {
    copyTemplate(template.path, inside.at(name));
    copyTemplate(template.path, outside.at(name));
  }
  session = await connectStdio(['--workspaces', names.map((name) => `${name}=${inside.at(name)}`).join(',')]);
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  inside[Symbol.dispose]();
  outside[Symbol.dispose]();
});

async function runInside(workspace: string, lines: readonly string[]): Promise<Ran[]> {
  const { structured, text } = await session.call('bash', { workspace, command: toScript(lines) });
  expect(structured, text).toMatchObject({ exitCode: 0, truncated: false });
  return readRuns(lines, structured.output, inside.at(workspace));
}

/** Lines about settings of editors and agents, and of what other programs read when they start. */
const aboutControls = /(^|[\s/])\.(vscode|claude|mcp\.json|envrc|husky)(\/|\s|$)/;
const withoutControls = (runs: readonly Ran[]) =>
  runs.map((run) => ({ ...run, out: run.out.split('\n').filter((line) => !aboutControls.test(line)) }));

/** Only what differs, so that a failure names the commands. */
function expectSame<Run>(found: readonly Run[], expected: readonly Run[], where: string): void {
  const differs = (_: Run, index: number) => !isDeepStrictEqual(found[index], expected[index]);
  expect(found.filter(differs), where).toEqual(expected.filter(differs));
}

test.concurrent.each(names)('%s', async (name) => {
  const lines = ['top=$PWD', ...(scenarios[name] ?? []), ...view];
  const expected = await runOutside(outside.at(name), lines);
  expectSame(await runInside(name, lines), expected, 'inside');

  const seen = await runOutside(inside.at(name), ['top=$PWD', ...view]);
  expectSame(withoutControls(seen.slice(1)), withoutControls(expected.slice(-view.length)), 'the person’s view');
  for (const file of privateFiles)
    expect(readFileSync(join(inside.at(name), file), 'utf8'), file).toBe(trackedControls[file]);
});
