import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, globSync, readdirSync, statSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { croft, makeDirectory } from '../support/harness.ts';

/** Users of one machine. The first starts Croft; the second was there before, and would like to be run by the first. */
const users = { root: 0, person: 60_418, stranger: 60_419 };
const ids = (uid: number) => ({ uid, gid: uid });

/** The directory of temporary files that all users share. */
function makeShared() {
  const shared = makeDirectory();
  chmodSync(shared.path, 0o1777);
  return shared;
}

/** Problems that the script of a user reports. */
function runAs(user: number, script: string, cwd: string): string {
  return spawnSync('sh', ['-euc', script], { ...ids(user), cwd, encoding: 'utf8' }).stderr;
}

const restricted = ['--network', 'restricted'];

/** A command in a sandbox with a proxy, by the program as a user starts it. */
async function runCroft(user: number, temporary: string, argv?: readonly string[], flags = restricted) {
  using home = makeDirectory({ 'workspace/file': 'of the workspace' });
  for (const name of ['', 'workspace', 'workspace/file']) chownSync(home.at(name), user, user);
  const input = JSON.stringify({ command: 'cat file' });
  const call = ['tool', '--workspace', home.at('workspace'), ...flags, 'bash', input];
  const child = spawn(croft, argv ?? call, {
    ...{ ...ids(user), cwd: home.path, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { PATH: process.env.PATH, HOME: home.path, CROFT_DATA: home.at('data'), TMPDIR: temporary },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { stdout, stderr, code: child.exitCode };
}

const plants: [string, (base: string) => string][] = [
  ['the directory', (base) => `mkdir -p ${base}/compiled; chmod -R 777 ${base}`],
  ['a link to a directory', (base) => `mkdir theirs; chmod 777 theirs; ln -s theirs ${base}`],
  ['a file', (base) => `echo > ${base}`],
];
const nodeOwn = 'mkdir -p node-compile-cache; chmod -R 777 node-compile-cache';

test
  .runIf(process.getuid?.() === 0)
  .each(
    Object.entries({ root: users.root, person: users.person }).flatMap(([who, user]) =>
      plants.map(([what, plant]) => [what, who, user, plant] as const),
    ),
  )('%s that another user made first gets no program that %s runs', async (_, __, user, plant) => {
  using shared = makeShared();
  expect(runAs(users.stranger, `${plant(`croft-${user}`)}; ${nodeOwn}`, shared.path)).toBe('');
  const before = globSync('**', { cwd: shared.path }).sort();
  const { stdout, stderr } = await runCroft(user, shared.path);
  expect([stdout, stderr]).toEqual([expect.stringContaining('of the workspace'), '']);
  expect(globSync('**', { cwd: shared.path }).sort()).toEqual(before);
  const { stdout: reported } = await runCroft(user, shared.path, ['doctor']);
  expect(reported).toMatch(/^! temporary files .*is not used/m);
});

test.runIf(process.getuid?.() === 0).each(Object.entries({ root: users.root, person: users.person }))(
  'programs compiled for %s are stored where no other user can write or list',
  async (_, user) => {
    using shared = makeShared();
    expect((await runCroft(user, shared.path)).stdout).toContain('of the workspace');
    expect(readdirSync(shared.path)).toEqual([`croft-${user}`]);
    const base = statSync(shared.at(`croft-${user}`));
    const compiled = statSync(shared.at(`croft-${user}/compiled`));
    expect([base.uid, compiled.uid, base.mode & 0o066, compiled.mode & 0o077]).toEqual([user, user, 0, 0]);
    expect(globSync('compiled/**', { cwd: shared.at(`croft-${user}`) }).length).toBeGreaterThan(20);
    for (const script of [`ls croft-${user}`, `touch croft-${user}/x`, `ls croft-${user}/compiled`])
      expect(runAs(users.stranger, script, shared.path)).toContain('Permission denied');
    expect((await runCroft(user, shared.path, ['doctor'])).stdout).toMatch(/^✓ temporary files /m);
  },
);

test.runIf(process.getuid?.() === 0)(
  'a temporary directory that everybody can rename in is refused, with advice',
  async () => {
    using shared = makeShared();
    chmodSync(shared.path, 0o777);
    const { stdout, code } = await runCroft(users.person, shared.path, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ temporary files .*everybody can rename/m);
    for (const flags of [restricted, ['--sandbox', 'none', '--network', 'allow-all']])
      expect(await runCroft(users.person, shared.path, undefined, flags)).toEqual({
        ...{ stdout: '', code: 1 },
        stderr: expect.stringMatching(/^E_SANDBOX_UNAVAILABLE: .*everybody can rename.*set TMPDIR/m),
      });
    expect(readdirSync(shared.path)).toEqual([]);
  },
);
