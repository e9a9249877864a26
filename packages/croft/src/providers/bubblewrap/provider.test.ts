import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { plantCanary } from '../../../test/canary.ts';
import { describeSandbox, listCommands, runIn, shellIn, startIn, within } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/harness.ts';
import type { Sandbox, SandboxLimits } from '../../core/commands/sandbox.ts';
import { findGroups } from '../../lib/cgroup/cgroup.ts';
import { createBubblewrap } from './provider.ts';

const megabyte = 1024 * 1024;
const limits: SandboxLimits = {
  memoryBytes: 256 * megabyte,
  processes: 512,
  cpus: 2,
  fileBytes: 64 * megabyte,
  openFiles: 256,
  diskBytes: 64 * megabyte,
};
const waiting = { interval: 20 };
const provider = createBubblewrap({ path: process.env.PATH ?? '', home: homedir() });

/** Opens a directory, which may have been open before. */
async function openAt(path: string, changed: Partial<SandboxLimits> = {}): Promise<Sandbox> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const sandbox = await provider.open({
    directory,
    workspacePath: '/workspace',
    limits: { ...limits, ...changed },
    network: { mode: 'deny-all' },
    readable: [],
  });
  onTestFinished(async () => {
    await sandbox.close();
    closeSync(directory);
  });
  return sandbox;
}

/** A workspace with a canary beside it, which is looked after at the end. */
function makeGround(tree: Record<string, string> = {}) {
  const ground = makeDirectory();
  const directory = ground.at('workspace');
  mkdirSync(directory);
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  const canary = plantCanary(ground.at('canary'));
  onTestFinished(() => {
    const changes = canary.changes();
    ground[Symbol.dispose]();
    expect(changes).toEqual([]);
  });
  return { directory, canary };
}

async function open(tree: Record<string, string> = {}, changed: Partial<SandboxLimits> = {}) {
  const { directory, canary } = makeGround(tree);
  return { sandbox: await openAt(directory, changed), directory, canary };
}

describeSandbox('bubblewrap', () => open());

/** Asks the kernel for what a sandbox must not get. Prints `name errno`, 0 for what it got. */
const probeSource = `
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void tell(const char *name, long result) { printf("%s %d\\n", name, result < 0 ? errno : 0); fflush(stdout); }
static void set_id(const char *name, int file) {
  struct stat status;
  if (file >= 0) { fstat(file, &status); close(file); }
  printf("%s %d\\n", name, file >= 0 && (status.st_mode & 06000) ? 0 : 1);
}
int main(void) {
  char zeros[256] = {0};
  tell("unshare-user", syscall(SYS_unshare, CLONE_NEWUSER));
  tell("unshare-mount", syscall(SYS_unshare, CLONE_NEWNS));
  long cloned = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (cloned == 0) _exit(0);
  tell("clone-user", cloned);
  long cloned3 = syscall(435, zeros, 88);
  if (cloned3 == 0) _exit(0);
  tell("clone3", cloned3);
  tell("setns", syscall(SYS_setns, open("/proc/self/ns/user", O_RDONLY), 0));
  tell("mount", mount("none", "/tmp", "tmpfs", 0, ""));
  tell("remount", mount(0, "/usr", 0, MS_REMOUNT | MS_BIND, 0));
  tell("umount", umount2("/workspace", MNT_DETACH));
  tell("fsopen", syscall(430, "tmpfs", 0));
  tell("open_tree", syscall(428, AT_FDCWD, "/workspace", 1));
  tell("mount_setattr", syscall(442, AT_FDCWD, "/usr", 0, zeros, 32));
  tell("chroot", chroot("/tmp"));
  pid_t child = fork();
  if (child == 0) { pause(); _exit(0); }
  tell("ptrace-attach", ptrace(PTRACE_ATTACH, child, 0, 0));
  tell("ptrace-seize", ptrace(PTRACE_SEIZE, child, 0, 0));
  tell("ptrace-init", ptrace(PTRACE_ATTACH, 1, 0, 0));
  tell("process_vm_readv", syscall(SYS_process_vm_readv, child, 0, 0, 0, 0, 0));
  tell("pidfd_getfd", syscall(438, (int)syscall(434, 1, 0), 3, 0));
  kill(child, SIGKILL); waitpid(child, 0, 0);
  tell("keyctl", syscall(SYS_keyctl, 0, -3, 1));
  tell("add_key", syscall(SYS_add_key, "user", "a", "b", 1, -3));
  tell("bpf", syscall(SYS_bpf, 0, zeros, 64));
  tell("perf", syscall(SYS_perf_event_open, zeros, 0, -1, -1, 0));
  tell("userfaultfd", syscall(SYS_userfaultfd, 1));
  tell("io_uring", syscall(425, 4, zeros));
  tell("vsock", socket(40, SOCK_STREAM, 0));
  tell("packet", socket(AF_PACKET, SOCK_RAW, 0));
  tell("alg", socket(38, SOCK_SEQPACKET, 0));
  tell("raw", socket(AF_INET, SOCK_RAW, 1));
  tell("tiocsti", ioctl(0, TIOCSTI, "x"));
  tell("open_by_handle", syscall(SYS_open_by_handle_at, AT_FDCWD, zeros, 0));
  close(open("plain", O_CREAT | O_RDWR, 0755));
  int plain = open("plain", O_RDWR);
  tell("setuid-chmod", chmod("plain", 04755));
  tell("setgid-chmod", chmod("plain", 02755));
  tell("setuid-fchmod", fchmod(plain, 04755));
  tell("setuid-fchmodat", fchmodat(AT_FDCWD, "plain", 04755, 0));
  tell("setuid-fchmodat2", syscall(452, AT_FDCWD, "plain", 04755, 0));
  tell("setuid-mknod", mknod("made", S_IFREG | 04755, 0));
  set_id("setuid-open", open("made2", O_CREAT | O_RDWR, 04755));
  set_id("setuid-creat", creat("made3", 04755));
  int hidden = open(".", O_TMPFILE | O_RDWR, 04755);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", hidden);
  if (hidden >= 0) linkat(AT_FDCWD, path, AT_FDCWD, "made4", AT_SYMLINK_FOLLOW);
  set_id("setuid-tmpfile", hidden);
  return 0;
}
`;

describe('fence', () => {
  let tools: ReturnType<typeof makeDirectory>;
  beforeAll(() => {
    tools = makeDirectory({ 'probe.c': probeSource });
    execFileSync('cc', ['-w', '-o', tools.at('probe'), tools.at('probe.c')]);
  });
  afterAll(() => tools[Symbol.dispose]());

  test('nothing of this machine can be seen but the system and the workspace', async () => {
    const { sandbox, directory, canary } = await open({ 'here.txt': 'here' });
    const outside = [
      canary.path,
      join(canary.path, 'secret.txt'),
      directory,
      '/var/run/docker.sock',
      '/run/docker.sock',
    ];
    const settings = ['/etc/shadow', '/etc/machine-id', '/etc/ssh', '/root/.gitconfig', '/sys', '/boot', '/run/user'];
    for (const path of [...outside, ...settings]) {
      expect((await runIn(sandbox, ['ls', '-d', path])).code, path).not.toBe(0);
    }
    const up = await shellIn(
      sandbox,
      `cat ../canary/secret.txt ../../*/canary/secret.txt /proc/1/root${canary.path}/secret.txt`,
    );
    expect(up.stdout).toBe('');
    symlinkSync(canary.path, join(directory, 'out'));
    expect(await shellIn(sandbox, 'cat out/secret.txt; ls out/; echo x > out/new')).toMatchObject({ stdout: '' });
    expect((await shellIn(sandbox, 'cat here.txt')).stdout).toBe('here');
  });

  test('the home of the operator is not there', async () => {
    const { sandbox } = await open();
    const { stdout } = await shellIn(sandbox, 'echo $HOME; ls -A $HOME; ls -A /home');
    expect(stdout).toBe('/home/croft\ncroft\n');
    const names = readdirSync(homedir()).filter((name) => lstatSync(join(homedir(), name)).isFile());
    for (const name of [...names, '.ssh', '.aws', '.docker', '.config', '.claude']) {
      expect((await runIn(sandbox, ['ls', '-d', join(homedir(), name)])).code, name).not.toBe(0);
    }
  });

  test('the first process and its handles are out of reach', async () => {
    const { sandbox } = await open();
    for (const name of ['fd', 'fd/3', 'environ', 'mem', 'maps', 'root/', 'cwd/']) {
      expect((await shellIn(sandbox, `ls /proc/1/${name} && head -c 1 /proc/1/${name}`)).code, name).not.toBe(0);
    }
    await shellIn(sandbox, 'kill -9 1; kill -STOP 1; kill -TERM 1');
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
    // The command itself has three, and `ls` one for the directory.
    expect((await runIn(sandbox, ['ls', '/proc/self/fd'])).stdout).toBe('0\n1\n2\n3\n');
  });

  test('programs have no privilege and cannot get any', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['cat', '/proc/self/status']);
    for (const kind of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(stdout).toMatch(new RegExp(`^Cap${kind}:\\s0{16}$`, 'm'));
    expect(stdout).toMatch(/^NoNewPrivs:\s1$/m);
    expect(stdout).toMatch(/^Seccomp:\s2$/m);
    expect((await runIn(sandbox, ['id', '-u'])).stdout).toBe('1000\n');
  });

  test('the kernel refuses every way out and every set-id bit', async () => {
    const { sandbox, directory } = await open();
    copyFileSync(tools.at('probe'), join(directory, 'probe'));
    const { stdout, code } = await runIn(sandbox, ['./probe']);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBe(probeSource.match(/^ {2}(?:tell|set_id)\(/gm)?.length);
    expect(lines.filter((line) => line.endsWith(' 0'))).toEqual([]);
    const isSetId = (name: string) => (lstatSync(join(directory, name)).mode & 0o6000) !== 0;
    expect(readdirSync(directory).filter(isSetId)).toEqual([]);
  });

  test('the system is read-only', async () => {
    const { sandbox } = await open();
    for (const path of ['/', '/usr', '/usr/bin', '/etc', '/dev', '/var', '/run/croft', '/home']) {
      expect((await runIn(sandbox, ['touch', join(path, 'croft-was-here')])).stderr, path).not.toBe('');
      expect(existsSync(join(path, 'croft-was-here'))).toBe(false);
    }
    expect((await shellIn(sandbox, 'echo x >> /etc/passwd')).code).not.toBe(0);
    expect(await shellIn(sandbox, 'touch /tmp/a $HOME/a /dev/shm/a a')).toMatchObject({ code: 0, stderr: '' });
  });

  test('no setting of the kernel can be changed', async () => {
    const { sandbox } = await open();
    // Looks and does not write: `core_pattern` alone would be the whole machine.
    const { stdout } = await shellIn(sandbox, 'find /proc/s[a-z]* /proc/irq /proc/bus /proc/fs -type f -writable');
    expect(stdout.split('\n', 5)).toEqual(['']);
  });

  test('there is no network but its own loopback', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['cat', '/proc/net/dev']);
    const names = stdout.split('\n').flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []);
    expect(names).toEqual(['lo']);
    const dial = await runIn(sandbox, ['/bin/bash', '-c', 'exec 9<>/dev/tcp/1.1.1.1/443']);
    expect(dial.stderr).toContain('unreachable');
  });
});

describe('control files', () => {
  const settings = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n';
  const repository = (at: string) => ({
    [`${at}HEAD`]: 'ref: refs/heads/main\n',
    [`${at}config`]: settings,
    [`${at}hooks/pre-commit`]: '#!/bin/sh\n',
    [`${at}objects/info/x`]: '',
    [`${at}refs/heads/x`]: '',
  });
  const bare = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': settings,
    '.git/objects/x': '',
    '.git/refs/x': '',
  };
  const tree = {
    ...repository('.git/'),
    ...repository('deep/er/.git/'),
    '.mcp.json': '{}',
    'a/b/.vscode/settings.json': '{}',
    'a/b/free.txt': 'free',
    'linked/.git': 'gitdir: ../.git/worktrees/linked\n',
  };
  const held = ['.git/config', '.git/hooks/pre-commit', 'deep/er/.git/config', 'deep/er/.git/hooks/pre-commit'];
  const files = [...held, '.mcp.json', 'a/b/.vscode/settings.json', 'linked/.git'] as const;

  test.each(files)('%s cannot be changed, replaced or taken away', async (name) => {
    const { sandbox, directory } = await open(tree);
    const before = readFileSync(join(directory, name), 'utf8');
    const attacks = [
      `echo evil > ${name}`,
      `echo evil >> ${name}`,
      `rm -f ${name}`,
      `mv ${name} gone`,
      `ln ${name} second && echo evil > second`,
      `echo evil > new && mv -f new ${name}`,
      `ln -sf /tmp/evil ${name}`,
      `chmod 777 ${name}`,
      `truncate -s 0 ${name}`,
      ...parentsOf(name).map((parent) => `mv ${parent} gone`),
    ];
    for (const attack of attacks) expect((await shellIn(sandbox, attack)).code, attack).not.toBe(0);
    await shellIn(sandbox, `rm -rf ${name.split('/')[0]}`);
    expect(readFileSync(join(directory, name), 'utf8')).toBe(before);
  });

  test('what is beside them can be changed', async () => {
    const { sandbox, directory } = await open(tree);
    expect(await shellIn(sandbox, 'echo new > a/b/free.txt && mv a/b/free.txt a/moved')).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'a/moved'), 'utf8')).toBe('new\n');
  });

  test('no hook appears where no directory for hooks was', async () => {
    const { directory } = makeGround(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'mkdir .git/hooks; echo evil > .git/hooks/pre-commit');
    expect(existsSync(join(directory, '.git/hooks/pre-commit'))).toBe(false);
  });

  test('a repository cannot be given the settings of another', async () => {
    const { directory } = makeGround(bare);
    const sandbox = await openAt(directory);
    await shellIn(sandbox, 'git init -q evil; git -C evil config croft.evil yes; echo ../evil/.git > .git/commondir');
    const seen = spawnSync('git', ['-C', directory, 'config', '--get', 'croft.evil']);
    expect(seen.stdout.toString()).toBe('');
  });

  test.each(['ln -sf refs/heads/main .git/HEAD', 'mv .git/objects kept && ln -s ../kept .git/objects'])(
    'a repository is known again after: %s',
    async (disguise) => {
      const { directory } = makeGround(repository('.git/'));
      const first = await openAt(directory);
      await shellIn(first, disguise);
      await first.close();
      const second = await openAt(directory);
      await shellIn(second, 'echo evil >> .git/config; echo evil >> .git/hooks/pre-commit');
      expect(readFileSync(join(directory, '.git/config'), 'utf8')).toBe(settings);
      expect(readFileSync(join(directory, '.git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
    },
  );

  test('the settings of a linked worktree are held too', async () => {
    const at = '.git/worktrees/linked';
    const worktree = {
      [`${at}/HEAD`]: 'ref: refs/heads/x\n',
      [`${at}/commondir`]: '../..\n',
      [`${at}/gitdir`]: '/x/.git\n',
    };
    const { sandbox, directory } = await open({ ...tree, ...worktree });
    await shellIn(sandbox, `echo /workspace/evil > ${at}/commondir; echo evil > ${at}/gitdir`);
    expect(readFileSync(join(directory, at, 'commondir'), 'utf8')).toBe('../..\n');
    expect(readFileSync(join(directory, at, 'gitdir'), 'utf8')).toBe('/x/.git\n');
  });

  test('git works in a workspace that is none yet', async () => {
    const { sandbox } = await open();
    const script = `set -e; git init -q; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; cat tree/a; git clone -q . copy; cat copy/a
      git log --oneline | wc -l; git -C copy config user.name other; git status --porcelain`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '1\n2\n2\n?? copy/\n?? tree/\n' });
  });

  test('git works in a repository that was there before', async () => {
    const { directory } = makeGround();
    execFileSync('git', ['init', '-q', '-b', 'main', directory]);
    const sandbox = await openAt(directory);
    const script = `set -e; echo 1 > a; git add a; git commit -qm one; git branch side; git checkout -q side
      echo 2 > a; git commit -qam two; git worktree add -q tree main; git -C tree commit -q --allow-empty -m three
      git merge -q main -m merged; git stash list; git tag t; git log --oneline | wc -l; git branch -D main || true`;
    expect(await shellIn(sandbox, script)).toMatchObject({ code: 0, stdout: '4\n' });
  });
});

/** Without one it is another limit that holds, as `watchdog.test.ts` has it. */
const hasGroups = !('reason' in findGroups());

describe('limits', () => {
  test.skipIf(!hasGroups)('memory beyond the limit ends the program, and nobody else', async () => {
    const [{ sandbox }, other] = await Promise.all([open({}, { memoryBytes: 64 * megabyte }), open()]);
    const hungry = runIn(sandbox, ['/usr/bin/python3', '-c', 'x = b"x" * (512 << 20); print(len(x))']);
    const answers = Array.from({ length: 10 }, () => runIn(other.sandbox, ['echo', 'here']));
    for (const { stdout } of await Promise.all(answers)) expect(stdout).toBe('here\n');
    expect(await hungry).toMatchObject({ stdout: '', signal: 'SIGKILL' });
    expect(sandbox.takeDenials()).toMatchObject([{ layer: 'limit', rule: 'memory', target: '64 MB' }]);
    expect(sandbox.takeDenials()).toEqual([]);
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('files in /tmp count as memory, and a file has a largest size', async () => {
    const { sandbox } = await open(
      {},
      { memoryBytes: 64 * megabyte, diskBytes: 16 * megabyte, fileBytes: 4 * megabyte },
    );
    expect(
      (await shellIn(sandbox, 'for i in 1 2 3 4 5 6 7 8; do head -c 4000000 /dev/zero > /tmp/$i || exit 1; done')).code,
    ).toBe(1);
    expect((await shellIn(sandbox, 'rm /tmp/*; head -c 5000000 /dev/zero > large')).code).not.toBe(0);
  });

  test.skipIf(!hasGroups)('a fork bomb stays in its sandbox, and ends when killed', async () => {
    const [{ sandbox }, other] = await Promise.all([open({}, { processes: 64 }), open()]);
    const bomb = startIn(sandbox, ['/bin/bash', '-c', 'b() { b | b & }; while :; do b; done']);
    bomb.stdout.resume();
    bomb.stderr.resume();
    await vi.waitFor(() => {
      expect(sandbox.takeDenials()).toMatchObject([{ rule: 'processes', target: '64 processes' }]);
    }, waiting);
    expect((await runIn(other.sandbox, ['echo', 'here'])).stdout).toBe('here\n');
    bomb.kill();
    expect(await within(bomb.exit)).toMatchObject({ signal: 'SIGKILL' });
    await vi.waitFor(async () => {
      expect((await listCommands(sandbox)).filter((command) => command.includes('do b'))).toEqual([]);
    }, waiting);
  });

  test.skipIf(!hasGroups)('a command for which there is no process left says so', async () => {
    const { sandbox } = await open({}, { processes: 24 });
    const take = "try:\n  while os.fork(): pass\nexcept OSError: print('all', flush=True)\ntime.sleep(1000)";
    const holding = startIn(sandbox, ['/usr/bin/python3', '-c', `import os, time\n${take}`]);
    await once(holding.stdout, 'data');
    await expect(runIn(sandbox, ['true'])).rejects.toMatchObject({
      code: 'E_COMMAND_NOT_STARTED',
      message: expect.stringContaining('as many processes run already as may'),
    });
    holding.kill();
    await holding.exit;
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('two providers in one process do not get in each other’s way', async () => {
    await open();
    const second = createBubblewrap({ path: '', home: homedir() });
    const { directory } = makeGround();
    const handle = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
    const spec = {
      directory: handle,
      workspacePath: '/workspace',
      limits,
      network: { mode: 'deny-all' },
      readable: [],
    } as const;
    const sandboxes = await Promise.all(
      [createBubblewrap({ path: '', home: homedir() }), second].map((one) => one.open(spec)),
    );
    for (const sandbox of sandboxes) await sandbox.close();
    closeSync(handle);
  });
});

test('kill −9 of the process that holds a sandbox leaves nothing of it behind', async () => {
  const { directory } = makeGround();
  const seconds = String(7000 + Math.random());
  const script = `
    import { openSync } from 'node:fs';
    import { createBubblewrap } from ${JSON.stringify(join(import.meta.dirname, 'provider.ts'))};
    const provider = createBubblewrap({ path: process.env.PATH, home: '/nonexistent' });
    const limits = ${JSON.stringify(limits)};
    const directory = openSync(${JSON.stringify(directory)}, 'r');
    const sandbox = await provider.open({ directory, workspacePath: '/workspace', limits, network: { mode: 'deny-all' }, readable: [] });
    const argv = ['/bin/sh', '-c', 'setsid sleep ${seconds} & sleep ${seconds} & echo up; wait'];
    sandbox.start({ argv, signal: new AbortController().signal }).stdout.pipe(process.stdout);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    holder.kill('SIGKILL');
  });
  await once(holder.stdout, 'data');
  const inside = await vi.waitFor(() => {
    const found = namespacesOf(seconds);
    expect(found.size).toBe(1);
    return found;
  }, waiting);
  holder.kill('SIGKILL');
  await vi.waitFor(() => expect(membersOf(inside)).toEqual([]), waiting);
});

function parentsOf(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The process namespaces of the programs on this machine with `words` in their command line. */
function namespacesOf(words: string): Set<string> {
  const found = processes().filter((pid) =>
    lookAt(pid, () => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).includes(`sleep\0${words}\0`),
  );
  return new Set(found.map((pid) => namespaceOf(pid)));
}

function membersOf(namespaces: Set<string>): string[] {
  return processes().filter((pid) => namespaces.has(namespaceOf(pid)));
}

function processes(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

function namespaceOf(pid: string): string {
  return lookAt(pid, () => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Empty for a process that is gone meanwhile. */
function lookAt(_pid: string, look: () => string): string {
  try {
    return look();
  } catch {
    return '';
  }
}
