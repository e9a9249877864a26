import { describe, expect, test, vi } from 'vitest';
import {
  allFlags,
  examineStandIn,
  type Given,
  goodInside,
  goodNetwork,
  ownInotify,
  status,
} from '../../test/support/stand-in-host.ts';
import { type Host, nobody } from './host.ts';

const restricted = { '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n' };
const noUserMap = () => 'bwrap: setting up uid map: Permission denied\n';
const noNamespaces = () => 'bwrap: No permissions to create new namespace, likely because the kernel does not allow\n';

test('every row holds on a complete host', async () => {
  const { checks, isReady, host } = await examineStandIn({});
  expect(checks.filter(({ state }) => state !== 'holds')).toEqual([]);
  expect(isReady).toBe(true);
  expect(host).toEqual({ system: 'Ubuntu 24.04.2 LTS', kernel: '6.8.0-60-generic', container: null, uid: 1000 });
});

test('an inotify limit that does not hold is weaker, and the row says how much programs can take', async () => {
  const { row } = await examineStandIn({});
  expect(row('limit: inotify').found).toBe('for each sandbox 16 of 128 instances, 65536 of 524288 watches of its user');
  for (const seen of ['', ownInotify.replace('16', '2147483647'), ownInotify.replace('65536', '524288')]) {
    const inside: Host['runInSandbox'] = async (_, network) =>
      network === 'deny-all' ? { output: goodInside.replace(ownInotify, seen) } : { output: goodNetwork };
    const { row: other, isReady } = await examineStandIn({ inside });
    expect(other('limit: inotify')).toMatchObject({ state: 'weaker', found: expect.stringContaining('can take all') });
    expect(isReady).toBe(true);
  }
});

describe('bubblewrap,', () => {
  test.each([
    ['ID=debian', 1000, 'sudo apt-get install -y bubblewrap'],
    ['ID=debian', 0, 'apt-get install -y bubblewrap'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"', 1000, 'sudo apt-get install -y bubblewrap'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"', 1000, 'sudo dnf install -y bubblewrap'],
    ['ID=arch', 1000, 'sudo pacman -S --needed bubblewrap'],
    ['ID=alpine', 1000, 'sudo apk add bubblewrap'],
    ['ID=mine', 1000, undefined],
  ])('not installed on %s, is installed by %i with its package manager', async (release, uid, command) => {
    const { row, isReady } = await examineStandIn({ files: { '/etc/os-release': release }, uid, lacks: ['bwrap'] });
    expect(isReady).toBe(false);
    expect(row('bubblewrap')).toMatchObject({ state: 'missing', found: expect.stringContaining('not installed') });
    expect(row('bubblewrap').fix?.run).toBe(command);
    expect(row('sandbox')).toEqual({
      name: 'sandbox',
      state: 'missing',
      found: 'cannot be opened; see bubblewrap, namespaces',
    });
  });

  test('without mounts by handle, is too old', async () => {
    const { row, isReady } = await examineStandIn({
      help: allFlags.replace('--bind-fd ', '').replace('--ro-bind-fd', ''),
    });
    expect(isReady).toBe(false);
    expect(row('bubblewrap')).toMatchObject({ state: 'missing', fix: { run: 'sudo apt-get install -y bubblewrap' } });
    expect(row('bubblewrap').found).toContain('it has no --bind-fd, --ro-bind-fd');
  });
});

describe('namespaces,', () => {
  test.each([noUserMap(), 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n'])(
    'restricted by AppArmor, need a profile for bubblewrap alone: %s',
    async (words) => {
      const { row, isReady } = await examineStandIn({ files: restricted, refuses: () => words });
      expect(isReady).toBe(false);
      expect(row('namespaces')).toMatchObject({ state: 'missing', found: expect.stringContaining('AppArmor') });
      const { run = '' } = row('namespaces').fix ?? {};
      expect(run).toMatch(/profile bwrap \/usr\/bin\/bwrap flags=\(unconfined\).*userns,.*apparmor_parser -r/s);
      expect(run).not.toContain('apparmor_restrict_unprivileged_userns=0');
    },
  );

  test('allowed to root alone, are explained to a server that runs as root', async () => {
    const refuses = (uid: number) => (uid === nobody.uid ? noUserMap() : '');
    const { row, isReady } = await examineStandIn({ files: restricted, uid: 0, refuses });
    expect(row('namespaces')).toMatchObject({ state: 'weaker', found: expect.stringContaining('root owns') });
    expect(row('namespaces').fix?.run).toContain('apparmor_parser');
    expect(isReady).toBe(true);
  });

  test.each([
    ['/proc/sys/user/max_user_namespaces', 'user.max_user_namespaces=15000'],
    ['/proc/sys/kernel/unprivileged_userns_clone', 'kernel.unprivileged_userns_clone=1'],
  ])('turned off by %s, are turned on by it', async (path, setting) => {
    const { row } = await examineStandIn({ files: { ...restricted, [path]: '0\n' }, refuses: noNamespaces });
    expect(row('namespaces').fix?.run).toContain(setting);
  });

  test.each([
    ['bwrap: --size is not permitted in setuid mode\n', /chmod u-s/],
    ['bwrap: Creating new namespace failed: nesting depth or max_*_namespaces exceeded (ENOSPC)\n', /max_user_name/],
  ])('refused to bubblewrap, as it says: %s', async (words, command) => {
    const { row } = await examineStandIn({ refuses: () => words });
    expect(row('namespaces').fix?.run).toMatch(command);
  });

  test('refused for an unknown reason, give the words of bubblewrap and the command to see more', async () => {
    const { row } = await examineStandIn({ refuses: () => 'bwrap: something new\nand more\n' });
    expect(row('namespaces').found).toBe('bubblewrap cannot make a sandbox: bwrap: something new');
    expect(row('namespaces').fix?.run).toMatch(/^\/usr\/bin\/bwrap --unshare-all .* -- true$/);
  });
});

describe('inside a container', () => {
  const cases: readonly [string, Given, RegExp][] = [
    ['Docker', { paths: ['/.dockerenv'] }, /^docker run --security-opt seccomp=unconfined .*systempaths=unconfined/],
    ['Docker', { files: { '/proc/1/cgroup': '0::/docker/0123' } }, /^docker run --security-opt seccomp=unconfined/],
    ['Podman', { paths: ['/run/.containerenv'] }, /^podman run --security-opt seccomp=unconfined .*unmask=ALL/],
    ['Kubernetes', { paths: ['/var/run/secrets/kubernetes.io', '/.dockerenv'] }, /seccompProfile.*procMount: Unmasked/],
    ['LXC', { files: { '/proc/1/cgroup': '1:name=systemd:/lxc/box' } }, /security\.nesting true/],
  ];
  test.each(cases)('by %s the profiles of the container are named as the cause', async (kind, given, command) => {
    const { row, host, isReady } = await examineStandIn({ ...given, refuses: noNamespaces });
    expect(isReady).toBe(false);
    expect(host.container).toBe(kind);
    expect(row('host').found).toContain(`inside ${kind}`);
    expect(row('namespaces').found).toContain(`${kind} does not allow it: bwrap: No permissions`);
    expect(row('namespaces').fix?.run).toMatch(command);
    expect(row('namespaces').fix?.run).not.toMatch(/--privileged|SYS_ADMIN/);
  });

  test('by gVisor no setting is advised', async () => {
    const version = { '/proc/version': 'Linux version 4.19.0-gvisor #1 SMP' };
    const { row, host } = await examineStandIn({ files: version, refuses: noNamespaces });
    expect(host.container).toBe('gVisor');
    expect(row('namespaces').fix).toEqual({ say: expect.stringContaining('beside it') });
  });

  test('without profiles, AppArmor of the host is named next', async () => {
    const docker = { files: restricted, paths: ['/.dockerenv'] };
    expect((await examineStandIn({ ...docker, refuses: noNamespaces })).row('namespaces').fix?.run).toMatch(
      /^docker run/,
    );
    expect((await examineStandIn({ ...docker, refuses: noUserMap })).row('namespaces').fix?.run).toContain(
      'apparmor_parser',
    );
  });

  test('with working sandboxes, no problem is reported', async () => {
    const { isReady, row } = await examineStandIn({ paths: ['/.dockerenv'] });
    expect([isReady, row('host').state]).toEqual([true, 'holds']);
  });
});

describe('the kernel', () => {
  test.each([
    ['6.18.44', 'holds'],
    ['5.10.0-30-amd64', 'holds'],
    ['5.4.0-100-generic', 'weaker'],
    ['4.19.0', 'weaker'],
  ])('%s %s', async (kernel, state) => {
    expect((await examineStandIn({ files: { '/proc/sys/kernel/osrelease': kernel } })).row('kernel').state).toBe(state);
  });

  test.each([
    ['', 'missing'],
    ['kill_thread trap trace allow', 'missing'],
    ['kill_process errno allow', 'weaker'],
  ])('with the seccomp actions "%s": %s', async (actions, state) => {
    const { row } = await examineStandIn({ files: { '/proc/sys/kernel/seccomp/actions_avail': actions } });
    expect(row('seccomp')).toMatchObject({ state, fix: { say: expect.stringMatching(/kernel|Linux/) } });
  });

  const built = 'CONFIG_SECURITY_LANDLOCK=y\nCONFIG_LSM="landlock,yama"\n';
  test.each([
    [{ '/sys/kernel/security/lsm': 'yama,landlock' }, 'holds'],
    [{ '/sys/kernel/security/lsm': 'yama' }, 'weaker'],
    [{ '/proc/config.gz': built }, 'holds'],
    [{ '/boot/config-6.8.0-60-generic': built }, 'holds'],
    [{ '/proc/config.gz': built, '/proc/cmdline': 'quiet lsm=yama,apparmor' }, 'weaker'],
    [{ '/proc/config.gz': '# CONFIG_SECURITY_LANDLOCK is not set\nCONFIG_LSM="landlock"\n' }, 'weaker'],
    [{}, undefined],
  ])('with the modules %j has landlock: %s', async (modules, state) => {
    const hidden: Record<string, undefined> = { '/sys/kernel/security/lsm': undefined };
    const { row } = await examineStandIn({ files: { ...hidden, ...modules } as Record<string, string> });
    expect(row('landlock')?.state).toBe(state);
  });
});

describe('a sandbox,', () => {
  test('without the compiled init, is not tried', async () => {
    const inside = vi.fn<Host['runInSandbox']>();
    const { row, isReady } = await examineStandIn({ init: 'the init is not there', inside });
    expect(row('init')).toMatchObject({ state: 'missing', fix: { run: 'npm run setup' } });
    expect([isReady, inside.mock.calls]).toEqual([false, []]);
  });

  test('stopped halfway by AppArmor, asks for another profile', async () => {
    const reason = 'bubblewrap cannot make a sandbox\ncroft-init: cannot hold the control files: Permission denied\n';
    const { row, isReady } = await examineStandIn({ files: restricted, inside: async () => ({ reason }) });
    expect(isReady).toBe(false);
    expect(row('sandbox').fix?.run).toMatch(/bwrap-userns-restrict .*disable.*flags=\(unconfined\)/s);
  });

  test('failing to open, has the error of the init', async () => {
    const reason = 'bubblewrap cannot make a sandbox on this host\ncroft-init: seccomp: Invalid argument\n';
    const { row } = await examineStandIn({ inside: async () => ({ reason }) });
    expect(row('sandbox').found).toBe('cannot be opened: croft-init: seccomp: Invalid argument');
  });

  test('failing to open for a reason of its own, does not blame the host', async () => {
    const { row } = await examineStandIn({
      files: restricted,
      paths: ['/.dockerenv'],
      inside: async () => ({ reason: 'the disk is full' }),
    });
    expect(row('sandbox').found).toBe('cannot be opened: the disk is full');
    expect(row('sandbox').fix?.run).toBeUndefined();
  });

  test.each([
    ['sandbox', status.replace('CapEff:\t0000000000000000', 'CapEff:\t0000000000200000'), 'CapEff'],
    ['sandbox', status.replace('CapBnd:\t0000000000000000', 'CapBnd:\t000001ffffffffff'), 'CapBnd'],
    ['sandbox', status.replace('NoNewPrivs:\t1', 'NoNewPrivs:\t0'), 'NoNewPrivs'],
    ['sandbox', status.replace('Seccomp:\t2', 'Seccomp:\t0'), 'Seccomp'],
    ['sandbox', '', 'CapEff, CapPrm, CapBnd, NoNewPrivs, Seccomp'],
    ['network', `${status}Interface: lo\nInterface: eth0\n`, 'eth0'],
  ])('with %s reported as %j, does not hold', async (name, output, word) => {
    const inside: Host['runInSandbox'] = async (_, mode) => ({ output: mode === 'deny-all' ? output : goodNetwork });
    const { row, isReady } = await examineStandIn({ inside });
    expect(isReady).toBe(false);
    expect(row(name)).toMatchObject({ state: 'missing', found: expect.stringContaining(word) });
    expect(row(name).fix?.say).toContain('Start no agent here');
  });

  test.each([
    ['Interface: lo\nProxy: HTTP/1.1 200 OK\n', '200 OK'],
    ['Interface: lo\nProxy: \n', 'says nothing'],
    ['Interface: lo\nInterface: eth0\nProxy: HTTP/1.1 403 Forbidden\n', 'eth0'],
  ])('with a restricted network reported as %j, does not hold', async (output, word) => {
    const inside: Host['runInSandbox'] = async (_, mode) => ({ output: mode === 'deny-all' ? goodInside : output });
    const { row, isReady } = await examineStandIn({ inside });
    expect(isReady).toBe(false);
    expect(row('network')).toMatchObject({ state: 'missing', found: expect.stringContaining(word) });
  });

  test('without a toolchain, is weaker', async () => {
    const { row, isReady } = await examineStandIn({
      inside: async () => ({ output: `${status}Interface: lo\nProxy: HTTP/1.1 403` }),
    });
    expect([row('toolchains').state, isReady]).toEqual(['weaker', true]);
  });
});

describe('limits:', () => {
  test.each([
    [1000, [], 'systemd-run --user --scope -p Delegate=yes croft serve …'],
    [0, [], 'systemd-run --scope -p Delegate=yes croft serve …'],
    [0, ['/.dockerenv'], 'docker run --cgroupns=private --security-opt writable-cgroups=true …'],
    [0, ['/run/.containerenv'], 'podman run --cgroupns=private --security-opt unmask=/sys/fs/cgroup …'],
  ])(
    '%i of them are weaker without control groups, and the row says how to get those (%j)',
    async (uid, paths, command) => {
      const groups = { reason: "EROFS: read-only file system, mkdir '/sys/fs/cgroup/croft-1'" };
      const { row, isReady } = await examineStandIn({ uid, paths, groups });
      expect(row('control groups')).toMatchObject({ state: 'weaker', found: expect.stringContaining('EROFS') });
      expect(row('control groups').fix?.run).toBe(command);
      for (const what of ['memory', 'processes', 'CPU']) expect(row(`limit: ${what}`).state).toBe('weaker');
      expect(isReady).toBe(true);
    },
  );
});

test('a server that runs as root is told the consequences', async () => {
  const { row, isReady } = await examineStandIn({ uid: 0 });
  expect(row('user')).toMatchObject({ state: 'weaker', found: expect.stringContaining('uid 0 without a capability') });
  expect(isReady).toBe(true);
});

test('without ripgrep agents cannot search; without git they can work', async () => {
  expect(await examineStandIn({ lacks: ['rg'] })).toMatchObject({ isReady: false });
  const { row, isReady } = await examineStandIn({ lacks: ['git'] });
  expect([row('git').state, isReady]).toEqual(['weaker', true]);
});

describe('has no row if it is not installed, and holds if its sandboxes open', () => {
  const paths = ['/run/docker.sock'];

  test('has no row where it is not there, and holds where its sandboxes open', async () => {
    expect((await examineStandIn({})).row('docker')).toBeUndefined();
    expect((await examineStandIn({ paths })).row('docker')).toMatchObject({
      state: 'holds',
      found: expect.stringMatching(/^opens; no capability/),
    });
  });

  test('refusing to open is weaker; opening with a broken fence is missing', async () => {
    const inside =
      (of: Awaited<ReturnType<Host['runInSandbox']>>) => async (_: string, network: string, provider?: string) =>
        provider ? of : { output: network === 'deny-all' ? goodInside : goodNetwork };
    const refused = await examineStandIn({
      paths,
      inside: inside({ reason: 'Docker does not answer\nconnect ENOENT' }),
    });
    expect([refused.row('docker').state, refused.isReady]).toEqual(['weaker', true]);
    expect(refused.row('docker').found).toBe('--sandbox docker cannot be used: Docker does not answer');
    const open = await examineStandIn({
      paths,
      inside: inside({ output: status.replace('Seccomp:\t2', 'Seccomp:\t0') }),
    });
    expect([open.row('docker').state, open.isReady]).toEqual(['missing', false]);
  });
});
