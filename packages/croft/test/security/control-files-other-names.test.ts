import { renameSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makePerson, type Person } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/**
 * A person's git creates new settings as `config.lock` and renames that file. What a program inside gets hold of under
 * the first name, it must not change under the second.
 */

let person: Person;
let workspaces: Workspaces;
beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, { count: 12 });
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

const settings =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Ada\n\temail = a@example.test\n';
const linkAt = process.arch === 'arm64' ? 37 : 265;

/** Steps of a program that gets hold of the file, is ready when the person renames it, and goes on after that. */
const ways: Readonly<Record<string, string>> = {
  'a hard link': 'link($lock, $alias); ready(); put(">>", $alias);',
  'a hard link to an open file': `open(my $f, "<", $lock); my $name = "/proc/self/fd/" . fileno($f);
    syscall(${linkAt}, -100, $name, -100, $alias, 0x400); ready(); put(">>", $alias);`,
  'a descriptor for writing': 'open(my $f, ">>", $lock); ready(); print $f $evil if $f; close $f if $f;',
  'a descriptor for reading': 'open(my $f, "<", $lock); ready(); put(">>", "/proc/self/fd/" . fileno($f));',
  'a descriptor of another process': `open(my $f, "<", $lock); my $own = $$;
    if (fork == 0) { ready(); put(">>", "/proc/$own/fd/" . fileno($f)); exit } wait;`,
  'a file of its own in its place': 'rename($lock, $alias); unlink($lock); put(">", $lock); ready();',
  'a file of its own moved to its place': 'put(">", ".git/mine"); rename(".git/mine", $lock); ready();',
  'a file of its own exchanged with it': `put(">", ".git/mine"); my $mine = ".git/mine";
    syscall(${process.arch === 'arm64' ? 276 : 316}, -100, $mine, -100, $lock, 2); ready();`,
};

const program = (steps: string) => `perl -e '
  open(my $key, "<", "evil/keys/core.fsmonitor"); my $evil = join "", <$key>;
  my ($lock, $alias) = (".git/config.lock", ".git/alias");
  sub ready { open(my $r, ">", "ready"); close $r; until (-e "go") { select(undef, undef, undef, 0.002) } }
  sub put { my ($how, $to) = @_; open(my $f, $how, $to) or return; print $f $evil; close $f }
  ${steps} open(my $r, ">", "done");'`;
const until = (name: string) => `timeout 20 sh -c 'until [ -e ${name} ]; do sleep 0.01; done'`;

test.each(Object.entries(ways))('%s', async (_, steps) => {
  const { at, bash, call, top } = workspaces.take();
  await bash('git status');
  writeFileSync(at('.git/config.lock'), settings);
  await call('bash', { command: program(steps), run_in_background: true });
  expect((await bash(`${until('ready')}; echo $?`)).text).toMatch(/^0$/m);
  renameSync(at('.git/config.lock'), at('.git/config'));
  await bash('touch go');
  expect((await bash(`${until('done')}; echo $?`)).text).toMatch(/^0$/m);
  expect(await person.inspect(top)).toEqual([]);
});

test('a lock file that git inside left behind may be removed inside', async () => {
  const { bash } = workspaces.take();
  const { text } = await bash(
    'echo x > .git/config.lock; echo y >> .git/config.lock; rm .git/config.lock && echo gone',
  );
  expect(text).toContain('gone');
  expect((await bash('git config user.name Grace; git config user.name')).text).toBe('Grace\n');
});

test('sockets in place of objects and refs', async () => {
  const { bash, top } = workspaces.take();
  const make = (names: string) =>
    `perl -MSocket -e 'for (qw(${names})) { socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un($_)) }'`;
  await bash(`mkdir odd; cp evil/keys/core.fsmonitor odd/config; echo ref: refs/heads/main > odd/HEAD
    cd odd; ${make('objects refs')}; ${make('$ENV{PWD}/refs')}`);
  expect((await bash(`${make('honest')}; [ -S honest ] && echo made`)).text).toContain('made');
  expect(await person.inspect(top)).toEqual([]);
});
