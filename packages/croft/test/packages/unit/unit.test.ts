import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packAll, packForDebian } from '../../../../../scripts/pack.ts';
import { findProgram } from '../../../src/lib/processes/find-program.ts';
import { makeDirectory } from '../../support/harness.ts';
import { compileXstate, kernel } from '../../vm/machine.ts';

/** `npm run test:packages`. Debian's `user-mode-linux` is the kernel; the machine has systemd, and starts the unit. */
const missing = ['debootstrap', 'dpkg-deb', 'cc', kernel].filter((name) => !fs.existsSync(name) && !findProgram(name));
const isWanted = process.env.CROFT_PACKAGES !== undefined && process.getuid?.() === 0;
if (isWanted && missing.length > 0) console.warn(`SKIPPED: the unit is not started, without ${missing.join(', ')}`);

const packages = ['systemd', 'systemd-sysv', 'dbus', 'bubblewrap', 'git', 'ripgrep', 'libstdc++6', 'curl'];
/** The machine sees its files with the rights of root on this one: what others write goes to memory. */
const mounts = ['/var/lib/private 0700', '/tmp 1777', '/var/tmp 1777'];
const bootedMs = 480_000;

describe.skipIf(!isWanted || missing.length > 0)('the unit, started by systemd in a virtual machine', () => {
  const directory = makeDirectory();
  const tree = directory.at('tree');
  let found = '';

  beforeAll(async () => {
    fs.chmodSync(directory.path, 0o755);
    run(['debootstrap', '--variant=minbase', `--include=${packages.join(',')}`, 'bookworm', tree]);
    const { tarballs } = await packAll(directory.at('tarballs'));
    const [made = ''] = packForDebian(tarballs, directory.path);
    fs.cpSync(made, join(tree, basename(made)));
    run(['chroot', tree, 'sh', '-c', `dpkg -i /${basename(made)} && systemctl enable croft`]);
    fs.writeFileSync(join(tree, 'etc/fstab'), mounts.map(toMount).join(''));
    fs.cpSync(join(import.meta.dirname, 'try-unit.sh'), join(tree, 'try-unit.sh'));
    const after = '[Unit]\nAfter=croft.service\n[Service]\nType=oneshot\nExecStart=/bin/sh /try-unit.sh\n';
    fs.writeFileSync(
      join(tree, 'etc/systemd/system/try-unit.service'),
      `${after}[Install]\nWantedBy=multi-user.target\n`,
    );
    run(['chroot', tree, 'systemctl', 'enable', 'try-unit']);
    const flags = ['mem=1536M', 'rootfstype=hostfs', `rootflags=${tree}`, 'rw', 'init=/lib/systemd/systemd'];
    const quiet = ['con=null', 'con0=null,fd:1', 'panic=-1', 'systemd.mask=systemd-udevd.service'];
    run(['setpriv', '--pdeathsig', 'TERM', kernel, ...flags, ...quiet], { LD_PRELOAD: compileXstate(directory.path) });
    found = fs.readFileSync(join(tree, 'var/log/try-unit'), 'utf8');
  }, bootedMs + 240_000);
  afterAll(() => directory[Symbol.dispose]());

  function run([program = '', ...args]: readonly string[], more: Readonly<Record<string, string>> = {}): void {
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory.path, ...more };
    const options = { encoding: 'utf8', env, timeout: bootedMs, killSignal: 'SIGTERM', maxBuffer: 1 << 26 } as const;
    const { status, stdout, stderr } = spawnSync(program, args, options);
    expect(status, `${program}: ${stdout.slice(-3000)}${stderr.slice(-3000)}`).toBe(0);
  }
  const section = (name: string) =>
    found.split(`## ${name}\n`)[1]?.split('\n## ')[0]?.trim() ?? `nothing in:\n${found}`;

  test('runs as a user of its own, without a capability, with files that nobody else reads', () => {
    expect(section('show').split('\n').sort()).toEqual(
      ['ActiveState=active', 'CapabilityBoundingSet=', 'Delegate=yes', 'DynamicUser=yes', 'NoNewPrivileges=yes'].concat(
        'SubState=running',
      ),
    );
    expect(section('owner')).toMatch(/^(?!root)\S+ 700\n(?!root)\S+ 600$/);
  });

  test('runs a command in a sandbox that has a control group of its own', () => {
    const answer = JSON.parse(section('call'));
    expect(answer).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^[1-9]\d*\nNoNewPrivs:\t1\nmade\n$/) });
    expect(section('groups')).toMatch(/croft\.service\/croft-server$/m);
    expect(section('groups')).toMatch(/croft\.service\/croft-[\d-]+\/sandbox-\S+$/m);
  });

  test('is not rated exposed by systemd, and stops with its sandboxes', () => {
    expect(Number(/exposure level for croft.service: ([\d.]+)/.exec(section('security'))?.[1])).toBeLessThan(5.5);
    // Neither the token nor the link that signs in.
    expect(section('journal')).toBe('0');
    expect(section('stopped')).toBe('inactive');
    expect(section('left')).toBe('0');
  });
});

function toMount(given: string): string {
  const [path = '', mode = ''] = given.split(' ');
  return `tmpfs ${path} tmpfs mode=${mode} 0 0\n`;
}
