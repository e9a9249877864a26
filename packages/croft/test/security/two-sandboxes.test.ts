import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { makePerson, type Person } from './git-canary-fixture.ts';

/** Two sandboxes of one workspace. Each stops and judges only its own programs. */

const rounds = 4;
const place = makeDirectory();
let person: Person;
let one: McpSession;
let other: McpSession;
beforeAll(async () => {
  person = await makePerson();
  person.copyRepository(place.at('w'));
  [one, other] = await Promise.all([connectStdio(flags()), connectStdio(flags())]);
});
afterAll(async () => {
  await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
  person[Symbol.dispose]();
  place[Symbol.dispose]();
});

const flags = () => ['--workspaces', `w=${place.at('w')}`];
/** Runs Perl. A sandbox may end, because the other one replaced what it holds. */
const perl = (session: McpSession, script: string) =>
  session.call('bash', { command: `perl -e '${script}'`, timeout_ms: 10_000 }).catch(() => undefined);
const canary = '[core]\\n\\tfsmonitor = touch canary\\n';

/** Makes a git directory by hand. The other sandbox gets some milliseconds before the last of its names. */
const make = (name: string) => `
  my $end = time + 5; select(undef, undef, undef, 0.001) while !-e "ready-${name}" && time < $end;
  mkdir "${name}"; mkdir "${name}/objects"; open(my $c, ">", "${name}/config"); print $c "[core]\\n\\tbare = false\\n"; close $c;
  open(my $h, ">", "${name}/HEAD"); print $h "ref: refs/heads/main\\n"; close $h;
  select(undef, undef, undef, 0.01); mkdir "${name}/refs"`;

/** Opens every file that has the name of the settings until the directory is complete, and then writes to all of them. */
const openAll = (name: string) => `
  open(my $r, ">", "ready-${name}"); close $r; my (@open, $last); my $end = time + 5;
  while (!-d "${name}/refs" && time < $end) {
    next unless open(my $f, "+<", "${name}/config"); my $inode = (stat($f))[1];
    push @open, $f if !defined $last || $last != $inode; $last = $inode;
  }
  for my $f (@open) { seek($f, 0, 2); print $f "${canary}"; close $f; }`;

test('one cannot write the settings of a git directory that the other is making', async () => {
  for (let round = 0; round < rounds; round++) {
    const name = `made${round}`;
    await Promise.all([perl(one, make(name)), perl(other, openAll(name))]);
    const config = place.at(`w/${name}/config`);
    if (existsSync(place.at(`w/${name}/refs`))) expect(readFileSync(config, 'utf8')).not.toContain('fsmonitor');
  }
}, 120_000);
