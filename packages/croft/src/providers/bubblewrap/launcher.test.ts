import { chownSync, closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { shellIn, startIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { openSandbox, operator, roomyLimits } from '../../../test/support/sandboxes/open-sandbox.ts';
import type { NetworkPolicy } from '../../core/commands/network-policy.ts';
import { processesIn } from '../../host/growth/namespace-processes.ts';
import { findInit } from '../../init/find-init.ts';
import { sharedSpawner } from '../../init/shared-spawner.ts';
import { createSpawner, type Spawner } from '../../init/spawner.ts';
import { findGroups } from '../../lib/cgroup/find-groups.ts';
import { toBwrapArguments } from './bwrap-arguments.ts';
import { createBubblewrap } from './provider.ts';

const restriction = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';
/** On such a machine bubblewrap may make sandboxes, and Croft's own process may not. */
const isRestricted = existsSync(restriction) && readFileSync(restriction, 'utf8').trim() === '1';
if (isRestricted) console.warn('SKIPPED sandboxes that we make without bubblewrap: AppArmor does not let us');

const tree = { '.git/HEAD': 'ref: refs/heads/main', '.git/config': '', 'src/a.txt': 'a' };

/** Chooses which of the two makes the sandbox, by refusing the other. */
const without = (isRefused: (maker: string) => boolean, spawner: Spawner = sharedSpawner): Spawner => ({
  ...spawner,
  start: (request) => (isRefused(request.argv[0]) ? Promise.reject(new Error('refused')) : spawner.start(request)),
});
const madeByUs = without((maker) => maker !== 'box');
const madeByBubblewrap = without((maker) => maker === 'box');

const provide = (spawner: Spawner) =>
  createBubblewrap(operator, { findInit, toArguments: toBwrapArguments, groups: findGroups(), spawner });

/** Prints everything by which sandboxes may differ, and nothing by which any two always differ. */
const script = `
  awk '$5 !~ "^/proc/" { print "mount", $5, $6 }' /proc/self/mountinfo
  grep -E '^(Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups|Sig|Umask|NSpid|NSsid|PPid|Threads)' /proc/1/status
  grep -E '^(Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups|Umask|Sig)' /proc/self/status
  cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups /proc/1/comm /proc/sys/kernel/hostname
  tr '\\0' '\\n' < /proc/1/cmdline | head -1
  stat -c '%N %A %t:%T %u:%g' /dev/* /dev/pts/* /tmp /home/croft /dev/shm / /usr /proc /bin /var/tmp .git .git/*
  stat -f -c '%n %T %b' /tmp /home/croft /dev/shm
  ls / /run/croft /home /var /proc/self/fd; cut -d: -f1 /proc/net/dev; cat /proc/net/if_inet6 | cut -c1-32
  env | sort; pwd; ulimit -a; sed 's/^/inotify /' /proc/sys/user/max_inotify_*
  for file in /x /proc/sys/kernel/hostname /proc/sysrq-trigger /dev/x /etc/x /usr/x /run/croft/x /run/croft/user/max_inotify_instances /home/x /var/x \\
    .git/config .git/hooks/x /tmp/x /home/croft/x /dev/shm/x src/x
  do echo x 2>&1 > $file && echo "wrote $file"; done
  for link in exe root cwd fd/3 ns/user; do readlink /proc/1/$link && echo "saw $link"; done
  cat /proc/1/environ /proc/1/maps; unshare -Ur true; mount -t tmpfs x /tmp`;

/** The share of a user's limit that a sandbox gets. */
function toShare(what: string): string {
  return `inotify ${Math.floor(Number(readFileSync(`/proc/sys/fs/inotify/max_user_${what}`, 'utf8')) / 8)}`;
}

const networks: [string, NetworkPolicy][] = [
  ['no network', { mode: 'deny-all' }],
  ['the machine’s network', { mode: 'allow-all' }],
];

test.skipIf(isRestricted).each(networks)(
  'our own launcher and bubblewrap make the same sandbox, with %s',
  async (_, network) => {
    using fixture = makeDirectory(tree);
    if (process.getuid?.() === 0)
      for (const name of ['', ...Object.keys(tree), '.git', 'src']) chownSync(fixture.at(name), 12345, 12345);
    const seen = async (spawner: Spawner) => {
      const sandbox = await openSandbox(fixture.path, { provider: provide(spawner), network });
      const { stdout, stderr } = await shellIn(sandbox, script);
      await shellIn(sandbox, 'rm src/x');
      return [...stdout.split('\n'), ...stderr.split('\n')];
    };
    const theirs = await seen(madeByBubblewrap);
    expect(theirs.filter((line) => line.startsWith('mount')).length).toBeGreaterThan(15);
    expect(theirs).toContain('wrote src/x');
    expect(theirs.filter((line) => line.startsWith('inotify'))).toEqual(['instances', 'watches'].map(toShare));
    expect(await seen(madeByUs)).toEqual(theirs);
  },
);

/** The arguments of a complete sandbox over an open directory. */
function wholeWords(directory: number, path: string): string[] {
  const spec = {
    directoryFd: directory,
    workspacePath: path,
    limits: roomyLimits,
    network: { mode: 'deny-all' },
    readable: [],
  } as const;
  const tools = { directories: [], path: [], environment: {}, files: [] };
  return [...toBwrapArguments({ spec, tools, init: findInit() }), '--', '/run/croft/init', path, '0'];
}

const guards: [string, ...string[]][] = [
  ...['--unshare-all', '--as-pid-1', '--die-with-parent', '--new-session', '--clearenv'].map((word): [string] => [
    word,
  ]),
  ['--uid', '1000'],
  ['--gid', '1000'],
  ['--cap-drop', 'ALL'],
  ['--remount-ro', '/dev'],
  ['--remount-ro', '/proc'],
  ['--remount-ro', '/'],
];

test.skipIf(isRestricted)('our own launcher refuses arguments that leave out a guard or are unknown', async () => {
  using fixture = makeDirectory();
  const directory = openSync(fixture.path, 'r');
  onTestFinished(() => closeSync(directory));
  const words = wholeWords(directory, fixture.path);
  const start = async (changed: readonly string[]) => {
    const request = { owner: undefined, directoryFd: directory, groups: [], hasGate: false };
    const spawned = await sharedSpawner.start({ argv: ['box', ...changed], ...request });
    const isMade = await spawned.infoText.then(Boolean, () => false);
    spawned.kill();
    return { isMade, words: await spawned.ended };
  };
  expect(await start(words)).toMatchObject({ isMade: true });
  for (const guard of guards) {
    const at = words.findIndex((_, index) => guard.every((word, offset) => words[index + offset] === word));
    expect(at, guard.join(' ')).toBeGreaterThanOrEqual(0);
    expect(await start(words.toSpliced(at, guard.length)), guard.join(' ')).toMatchObject({ isMade: false });
  }
  for (const unknown of [['--overlay-src', '/'], ['--unshare-nothing'], ['--ro-bind', '/']])
    expect(await start([...unknown, ...words]), unknown.join(' ')).toMatchObject({ isMade: false });
});

test('a sandbox that our own launcher fails to make is made by bubblewrap, and our launcher is not tried again', async () => {
  using fixture = makeDirectory(tree);
  const asked: string[] = [];
  const provider = provide(without((maker) => asked.push(maker) > 0 && maker === 'box'));
  for (let round = 0; round < 2; round++) {
    const sandbox = await openSandbox(fixture.path, { provider });
    expect((await shellIn(sandbox, 'cat src/a.txt')).stdout).toBe('a');
  }
  expect(asked).toEqual(['box', expect.stringMatching(/bwrap$/), expect.stringMatching(/bwrap$/)]);
});

test.skipIf(isRestricted)(
  'a failure of both launchers is reported once, and the next sandbox is tried again',
  async () => {
    using fixture = makeDirectory(tree);
    const asked: string[] = [];
    let isRefused = true;
    const provider = provide(without((maker) => asked.push(maker) > 0 && isRefused));
    await expect(openSandbox(fixture.path, { provider })).rejects.toMatchObject({ code: 'E_SANDBOX_UNAVAILABLE' });
    isRefused = false;
    await openSandbox(fixture.path, { provider });
    expect(asked).toEqual(['box', expect.stringMatching(/bwrap$/), 'box']);
  },
);

/** A zombie does not count as running. */
const runningIn = (namespace: string) =>
  processesIn(namespace).filter((pid) => {
    try {
      return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  });

test.skipIf(isRestricted)('a sandbox ends with the process that made it, also if that is killed', async () => {
  using fixture = makeDirectory(tree);
  const children = () => readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const before = children();
  const provider = provide(without((maker) => maker !== 'box', createSpawner(findInit)));
  const sandbox = await openSandbox(fixture.path, { provider });
  const namespace = (await shellIn(sandbox, 'readlink /proc/self/ns/pid')).stdout.trim();
  const running = startIn(sandbox, ['sleep', '1000']);
  running.exit.catch(() => {});
  await vi.waitFor(() => expect(runningIn(namespace).length).toBeGreaterThan(1));
  const [spawner] = children().filter((pid) => !before.includes(pid));
  process.kill(Number(spawner), 'SIGKILL');
  await sandbox.closed;
  await vi.waitFor(() => expect(runningIn(namespace)).toEqual([]));
});
