import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { croft, makeDirectory, runCroft } from '../support/harness.ts';

const Report = z.strictObject({
  host: z.strictObject({
    system: z.string().min(1),
    kernel: z.string().regex(/^\d+\.\d+/),
    container: z.string().nullable(),
    uid: z.int().min(0),
  }),
  checks: z.array(
    z.strictObject({
      name: z.string().min(1),
      state: z.enum(['holds', 'weaker', 'missing']),
      found: z.string().min(1),
      fix: z.strictObject({ say: z.string().min(1), run: z.string().min(1).optional() }).optional(),
    }),
  ),
  groups: z
    .array(
      z.strictObject({
        letter: z.string().regex(/^[A-G]$/),
        ...{ title: z.string().min(1), covers: z.string().min(1), leavesOut: z.string().min(1) },
      }),
    )
    .optional(),
  escapes: z
    .array(
      z.strictObject({
        id: z.string().regex(/^[A-G]\d+[a-z]?$/),
        title: z.string().min(1),
        guards: z.array(z.string()).min(1),
        outcome: z.union([
          z.strictObject({ held: z.literal(true) }),
          z.strictObject({ held: z.literal(false), how: z.string() }),
          z.strictObject({ skipped: z.string() }),
        ]),
        durationMs: z.number().min(0),
      }),
    )
    .optional(),
});

const names = [
  ...['host', 'kernel', 'seccomp', 'bubblewrap', 'namespaces', 'init', 'sandbox', 'network', 'toolchains'],
  ...['control groups', 'limit: memory', 'limit: processes', 'limit: CPU', 'limit: disk', 'user', 'ripgrep', 'git'],
];

describe.concurrent('croft doctor', () => {
  test('reports working sandboxes on a host that has them, and leaves nothing behind', async () => {
    using temporary = makeDirectory();
    const { exitCode, stdout, stderr } = await runCroft(['doctor'], { env: { TMPDIR: temporary.path } });
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(
      stdout
        .split('\n\n')[0]
        ?.match(/^[✓!✗] .{3,16}?(?= {2})/gm)
        ?.map((row) => row.slice(2).trim()),
    ).toEqual(expect.arrayContaining(names));
    expect(stdout).toMatch(/^✓ sandbox +opens; no capability, no new privileges, filter loaded$/m);
    expect(stdout).not.toContain('✗');
    expect(readdirSync(temporary.at(`croft-${process.getuid?.()}`))).toEqual(['compiled']);
  });

  test('prints the same as one JSON object with --json', async () => {
    const { exitCode, stdout, stderr } = await runCroft(['doctor', '--json']);
    const { host, checks, escapes } = Report.parse(JSON.parse(stdout));
    expect([exitCode, stderr, escapes, host.uid]).toEqual([0, '', undefined, process.getuid?.()]);
    expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    expect(checks.filter(({ state }) => state === 'missing')).toEqual([]);
  });

  test('tells an invalid setting from an unsuitable host', async () => {
    const run = await runCroft(['doctor'], { env: { CROFT_TOKEN: 'short' } });
    expect(run).toEqual({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^CROFT_TOKEN: .+\n$/) });
  });

  test('mentions no attempts without --prove', async () => {
    const usage = 'usage: croft doctor [--fix] [--prove [ID …]] [--json]\n';
    expect(await runCroft(['doctor', 'B27'])).toEqual({ exitCode: 2, stdout: '', stderr: usage });
  });
});

describe.concurrent('on a host that really cannot make sandboxes, croft doctor', () => {
  test.each([
    ['has no bubblewrap', ['--ro-bind', '/dev/null', '/usr/bin/bwrap'], 'bubblewrap', /Install bubblewrap/],
    ['has no user namespaces', ['--unshare-user', '--disable-userns'], 'namespaces', /user\.max_user_namespaces=15000/],
    [
      'masks its /proc, as Docker does',
      ['--unshare-user', '--unshare-pid', '--proc', '/proc', '--ro-bind', '/dev/null', '/proc/uptime'],
      'namespaces',
      /Can't mount proc/,
    ],
  ])('reports it where it %s, proves nothing and exits 1', async (_, flags, name, word) => {
    const { exitCode, stdout, stderr } = await runOn(flags, ['doctor', '--prove']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(new RegExp(`^✗ ${name} `, 'm'));
    expect(stdout).toMatch(/^✗ sandbox +cannot be opened; see /m);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(word);
    expect(stdout).not.toContain('attempts:');
    expect(stderr).toContain('no escape was attempted');
  });

  test('reports it in JSON too', async () => {
    const flags = ['--ro-bind', '/dev/null', '/usr/bin/bwrap'];
    const { exitCode, stdout } = await runOn(flags, ['doctor', '--prove', '--json']);
    const { checks, escapes } = Report.parse(JSON.parse(stdout));
    expect([exitCode, escapes]).toEqual([1, []]);
    expect(checks.find(({ name }) => name === 'bubblewrap')).toMatchObject({ state: 'missing' });
  });
});

test('where there are no control groups, croft doctor calls limits weaker and exits 0', async () => {
  const { exitCode, stdout } = await runOn([], ['doctor', '--json']);
  const weaker = Report.parse(JSON.parse(stdout)).checks.filter(({ state }) => state === 'weaker');
  expect(exitCode).toBe(0);
  expect(weaker.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['control groups', 'limit: memory', 'limit: processes', 'limit: CPU']),
  );
});

describe.concurrent('croft doctor --prove', () => {
  test('attempts the given attacks and prints which were stopped', async () => {
    const { exitCode, stdout, stderr } = await runCroft(['doctor', '--prove', 'c50', 'B27']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^B {2}the kernel\n(?: {3}.+\n)+ {2}✓ B27 .+\n\nC {2}control files\n(?: {3}.+\n)+ {2}✓ C50 .+\n$/m,
    );
    expect(stdout.match(/^ {3}(?:covers|leaves out): \S/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^2 attempts: 2 held, 0 got out, 0 skipped$/m);
  });

  test('prints only the JSON on standard output with --json', async () => {
    const { exitCode, stdout, stderr } = await runCroft(['doctor', '--prove', '--json', 'B27']);
    const { groups, escapes = [] } = Report.parse(JSON.parse(stdout));
    expect([exitCode, stdout.split('\n').length]).toEqual([0, 2]);
    expect(groups).toMatchObject([{ letter: 'B' }]);
    expect(escapes.length).toBeGreaterThan(0);
    for (const { id, outcome } of escapes)
      expect([id, outcome]).toEqual([expect.stringMatching(/^B27/), { held: true }]);
    expect(stderr).toMatch(/✓ B27/);
  });

  test('refuses an unknown attack', async () => {
    const { exitCode, stderr } = await runCroft(['doctor', '--prove', 'Q7']);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^there is no attempt Q7; .*\n$/m)]);
  });

  test('stops when interrupted, says so and exits 1', async () => {
    const child = spawn(croft, ['doctor', '--prove'], { stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    await vi.waitFor(() => expect(output).toMatch(/^ {2}✓ /m));
    const ended = once(child, 'close');
    child.kill('SIGINT');
    expect(await ended).toEqual([1, null]);
    expect(output).toMatch(/\d+ attempts: .*; stopped before the end\n$/);
    expect(output).not.toContain('aborted');
  });
});

/**
 * On this machine, but for what `flags` make of it, and without its control groups: who sees other processes than the
 * rest of the machine takes their groups for those of the dead.
 */
async function runOn(flags: readonly string[], args: readonly string[]) {
  const argv = ['--dev-bind', '/', '/', '--tmpfs', '/sys/fs/cgroup', ...flags, '--', croft, ...args];
  const child = spawn('/usr/bin/bwrap', argv, { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = await closed;
  return { exitCode: exitCode as number | null, stdout, stderr };
}
