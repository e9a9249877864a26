import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { advance } from './git-canary-actor.ts';
import { canary, makePerson, type Person } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/** A person's git and editor replace control files while a sandbox is open: what it may not change, it still may not. */

let person: Person;
let workspaces: Workspaces;
beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, { count: 30 });
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

/** A repository in which a sandbox is open. */
async function openSandbox() {
  const workspace = workspaces.take();
  await workspace.bash('git status');
  return workspace;
}

const top = { git: '.git', work: '.' };
const nested = { git: 'nested/.git', work: 'nested' };

/** The action of the person, and its repository. */
const replacements: readonly (readonly [string, string, typeof top])[] = [
  ['git config', 'git config user.name "Ada $RANDOM"', top],
  ['git push -u', 'git push -q -u origin HEAD:refs/heads/b$RANDOM', top],
  ['an editor’s safe save', 'cp .git/config .git/save; mv .git/save .git/config', top],
  ['a new directory of hooks', 'rm -rf .git/hooks; mkdir .git/hooks', top],
  ['a git directory that is moved and comes back', 'mv .git away; mv away .git', top],
  ['a git directory in place of the old one', 'mv .git ../old-$$; cp -a ../old-$$ .git', top],
  ['a new repository', 'rm -rf nested; git init -q nested', nested],
  ['a new clone', 'git clone -q "$ORIGIN" ../clone-$$; rm -rf nested; mv -T ../clone-$$ nested', nested],
  ['a repository that is renamed', '[ -d nested ] || git init -q nested; mv nested other; mv other nested', nested],
];
const ways = ['append', 'git config', 'rename over', 'exchange of files', 'hooks', 'hooks moved in'];

describe('files of git', () => {
  test.each(replacements)('%s, before the next command', async (_, deed, target) => {
    const workspace = await openSandbox();
    person.shell(workspace.top, deed);
    for (const way of ways) await workspace.attack(way, target);
    expect(await workspace.isAlive()).toBe(true);
    expect(await person.inspect(workspace.top)).toEqual([]);
  });

  test.each(replacements)('%s, while a command tries again and again', async (_, deed, target) => {
    const workspace = await openSandbox();
    const loop = await workspace.startLoop([target]);
    await loop.advance();
    for (let round = 0; round < 3; round++) {
      person.try(workspace.top, deed);
      await loop.advance();
    }
    const ran = await person.inspect(workspace.top);
    await loop.stop();
    expect(ran).toEqual([]);
  });

  test('the settings of the person count for the next command', async () => {
    const workspace = await openSandbox();
    for (const name of ['Grace', 'Edsger']) {
      person.shell(workspace.top, `git config user.name ${name}`);
      expect((await workspace.bash('git config user.name')).text).toBe(`${name}\n`);
    }
  });

  const alias = `git config alias.mine '!echo mine'`;

  test('a setting that runs a program stays if the person set it between two commands', async () => {
    const workspace = await openSandbox();
    person.shell(workspace.top, alias);
    const { text, structured } = await workspace.bash('git config alias.mine');
    expect(text).toBe('!echo mine\n');
    expect(structured.denials ?? []).toEqual([]);
    expect(readFileSync(workspace.at('.git/config'), 'utf8')).toContain('!echo mine');
  });

  test('a setting that runs a program stays if the person set it while a command ran', async () => {
    const workspace = await openSandbox();
    const waiting = await workspace.call('bash', { command: 'sleep 1000', run_in_background: true });
    person.shell(workspace.top, alias);
    expect((await workspace.bash('git config alias.mine')).text).toBe('!echo mine\n');
    expect(readFileSync(workspace.at('.git/config'), 'utf8')).toContain('!echo mine');
    await workspace.call('kill_shell', { shell_id: waiting.structured.shell_id });
  });

  test('a setting that runs a program is still refused, and reported', async () => {
    const workspace = await openSandbox();
    person.shell(workspace.top, 'git config user.name Grace');
    const set = `git config core.fsmonitor '${canary('fsmonitor')}' && echo was set; exit 0`;
    const { text, structured } = await workspace.bash(set);
    expect(text).not.toContain('was set');
    expect(structured.denials.map(({ target }: { target: string }) => target).join()).toContain('.git/config');
  });
});

/** Appends, renames over and makes new files in `.vscode`, for ever. */
const editorLoop = `perl -e '
  sub put { my ($how, $to) = @_; open(my $f, $how, $to) or return 0; print $f "evil\\n"; return close $f }
  for (my $tries = 0;; $tries++) {
    put(">>", ".vscode/settings.json"); put(">", ".vscode/tasks.json");
    put(">", "next") and rename("next", ".vscode/settings.json");
    open(my $f, ">", "tries-next"); print $f $tries; close $f; rename("tries-next", "tries");
    select(undef, undef, undef, 0.0003);
  }'`;

describe('files of an editor', () => {
  const saves: Readonly<Record<string, (at: (name: string) => string, text: string) => void>> = {
    'saved by renaming over': (at, text) => {
      writeFileSync(at('.vscode/.save'), text);
      renameSync(at('.vscode/.save'), at('.vscode/settings.json'));
    },
    'saved in place': (at, text) => writeFileSync(at('.vscode/settings.json'), text),
    'in a directory that is made anew': (at, text) => {
      person.shell(at(''), 'rm -rf .vscode; mkdir .vscode-new');
      writeFileSync(at('.vscode-new/settings.json'), text);
      renameSync(at('.vscode-new'), at('.vscode'));
    },
  };

  test.each(Object.entries(saves))('%s, before the next command', async (_, save) => {
    const { at, bash } = await openSandbox();
    save(at, 'mine');
    await bash('echo evil >> .vscode/settings.json; echo evil > .vscode/tasks.json');
    await bash('echo evil > next; mv -f next .vscode/settings.json; rm -rf .vscode; mkdir .vscode; echo > .vscode/x');
    expect(readdirSync(at('.vscode'))).toEqual(['settings.json']);
    expect(readFileSync(at('.vscode/settings.json'), 'utf8')).toBe('mine');
  });

  test.each(Object.entries(saves))('%s, while a command tries again and again', async (_, save) => {
    const { at, call } = await openSandbox();
    const { structured } = await call('bash', { command: editorLoop, run_in_background: true });
    for (const round of [1, 2, 3, 4]) {
      await advance(at('tries'));
      save(at, `mine ${round}`);
      await advance(at('tries'));
      expect(readdirSync(at('.vscode'))).toEqual(['settings.json']);
      expect(readFileSync(at('.vscode/settings.json'), 'utf8')).toBe(`mine ${round}`);
    }
    await call('kill_shell', { shell_id: structured.shell_id });
  });
});
