import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { makePerson, type Person } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/** Control files that are not there yet do not come to the person's tree, and the answer says so. */

let person: Person;
let workspaces: Workspaces;
beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, {
    count: 9,
    prepare: 'git rm -rq .vscode; git commit -qm none; git init -q lib',
  });
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

/** One for a group of tests: what one makes would be in the way of another. */
function takeOne() {
  let taken: ReturnType<Workspaces['take']>;
  beforeAll(() => {
    taken = workspaces.take();
  });
  return () => taken;
}

/** Files that editors, agents and direnv obey in the folder in which they are opened. */
const obeyed = [
  '.claude/settings.json',
  '.claude/commands/do.md',
  '.vscode/tasks.json',
  '.vscode/settings.json',
  '.mcp.json',
  '.devcontainer/devcontainer.json',
  '.idea/workspace.xml',
  '.cursor/mcp.json',
  '.zed/settings.json',
  '.windsurf/rules/one.md',
  '.codex/config.toml',
  '.gemini/settings.json',
  '.continue/config.json',
  '.aider.conf.yml',
];
/** The same in a repository below the top, which may be opened by itself. */
const files = [...obeyed, 'lib/.vscode/tasks.json', 'lib/.claude/settings.json', 'lib/.mcp.json'];

/** The directory that editors know, or the file itself. */
const controlOf = (file: string) => file.replace(/^lib\//, '').replace(/\/.*/, '');

/** By commands that print nothing. Each makes the file in another way. */
const ways: Readonly<Record<string, (file: string) => string>> = {
  written: (file) => `mkdir -p ${dirname(file)}; echo evil > ${file}`,
  'moved in': (file) => `mkdir -p ${dirname(file)}; echo evil > plain; mv plain ${file}`,
  'by a hard link': (file) => `mkdir -p ${dirname(file)}; echo evil > plain-$$; ln plain-$$ ${file}`,
  'by a link': (file) => `mkdir -p ${dirname(file)}; echo evil > "$PWD/linked-$$"; ln -s "$PWD/linked-$$" ${file}`,
};

describe.each(Object.entries(ways))('%s by a command', (_, way) => {
  const workspace = takeOne();
  test.each(files)('%s', async (file) => {
    const { text } = await workspace().call('bash', { command: `{ ${way(file)}; } 2> /dev/null; exit 0` });
    expect(text).toContain(controlOf(file));
    await vi.waitFor(() => expect(existsSync(workspace().at(file))).toBe(false), { timeout: 5000 });
  });
});

describe('a whole directory by a command', () => {
  const workspace = takeOne();
  const another = takeOne();
  test.each(['.vscode', '.claude', '.cursor', '.idea', 'lib/.vscode'])('%s', async (directory) => {
    const command = `mkdir -p made/sub; echo evil > made/tasks.json; mv -T made ${directory} 2> /dev/null; rm -rf made; exit 0`;
    const { text } = await workspace().call('bash', { command });
    expect(text).toContain(controlOf(directory));
    await vi.waitFor(() => expect(existsSync(workspace().at(`${directory}/tasks.json`))).toBe(false), {
      timeout: 5000,
    });
  });

  test.each(['.vscode', '.claude'])('%s, as a link to an ordinary directory', async (directory) => {
    const command = `mkdir -p plain-directory; echo evil > plain-directory/tasks.json; ln -s plain-directory ${directory} 2> /dev/null; exit 0`;
    const { text } = await another().call('bash', { command });
    expect(text).toContain(directory);
    await vi.waitFor(() => expect(existsSync(another().at(`${directory}/tasks.json`))).toBe(false), { timeout: 5000 });
  });
});

describe('by a tool', () => {
  const workspace = takeOne();
  test.each(files)('write %s', async (file) => {
    const answer = await workspace().call('write', { file_path: file, content: 'evil\n' });
    expect(existsSync(workspace().at(file))).toBe(false);
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('--allow-control') });
  });

  test.each(files)('move to %s', async (file) => {
    await workspace().call('write', { file_path: 'plain.txt', content: 'evil\n' });
    const { isError } = await workspace().call('move', { from: 'plain.txt', to: file });
    expect(existsSync(workspace().at(file))).toBe(false);
    expect(isError).toBe(true);
  });

  test('move a whole directory', async () => {
    await workspace().call('write', { file_path: 'whole/tasks.json', content: 'evil\n' });
    await workspace().call('move', { from: 'whole', to: '.vscode' });
    expect(existsSync(workspace().at('.vscode/tasks.json'))).toBe(false);
  });
});

test('in a transaction that is committed', async () => {
  const { call, at } = workspaces.take();
  const lines = obeyed.map((file) => `mkdir -p ${dirname(file)}; echo evil > ${file}`);
  const { text } = await call('bash', { command: [...lines, 'echo fine > fine.txt'].join('\n'), transaction: true });
  await call('transaction_commit', { transaction: /transaction: (\S+)/.exec(text)?.[1] });
  expect(readFileSync(at('fine.txt'), 'utf8')).toBe('fine\n');
  expect(obeyed.filter((file) => existsSync(at(file)))).toEqual([]);
});

test('names that are only similar can be changed', async () => {
  const { call, at } = workspaces.take();
  const plain = ['vscode/tasks.json', 'src/mcp.json', '.prettierrc', '.github/workflows/test.yml', '.editorconfig'];
  for (const file of plain) {
    const { text } = await call('bash', { command: `mkdir -p ${dirname(file)}; echo fine > ${file}` });
    expect(text).not.toContain('refused');
    expect(readFileSync(at(file), 'utf8')).toBe('fine\n');
  }
});
