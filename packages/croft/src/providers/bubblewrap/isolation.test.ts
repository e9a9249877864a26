import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, readdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runIn, shellIn } from '../../../test/contracts/sandbox.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { open } from '../../../test/support/sandboxes/bubblewrap-fixture.ts';

/** Asks the kernel for everything a sandbox must not get. Prints `name errno`, with 0 for what it got. */
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

  test('only the system and the workspace can be seen', async () => {
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

  test('the home of the operator is hidden', async () => {
    const { sandbox } = await open();
    const { stdout } = await shellIn(sandbox, 'echo $HOME; ls -A $HOME; ls -A /home');
    expect(stdout).toBe('/home/croft\ncroft\n');
    const names = readdirSync(homedir()).filter((name) => lstatSync(join(homedir(), name)).isFile());
    for (const name of [...names, '.ssh', '.aws', '.docker', '.config', '.claude']) {
      expect((await runIn(sandbox, ['ls', '-d', join(homedir(), name)])).code, name).not.toBe(0);
    }
  });

  test('the first process and its handles cannot be reached', async () => {
    const { sandbox } = await open();
    for (const name of ['fd', 'fd/3', 'environ', 'mem', 'maps', 'root/', 'cwd/']) {
      expect((await shellIn(sandbox, `ls /proc/1/${name} && head -c 1 /proc/1/${name}`)).code, name).not.toBe(0);
    }
    await shellIn(sandbox, 'kill -9 1; kill -STOP 1; kill -TERM 1');
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
    // The command has three descriptors, and `ls` opens one for the directory.
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

  test('the kernel refuses every way out, and set-id bits', async () => {
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
    // Only tests for writable files and writes nothing: `core_pattern` alone would give away the whole machine.
    const { stdout } = await shellIn(sandbox, 'find /proc/s[a-z]* /proc/irq /proc/bus /proc/fs -type f -writable');
    expect(stdout.split('\n', 5)).toEqual(['']);
  });

  test('the only network is loopback', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['cat', '/proc/net/dev']);
    const names = stdout.split('\n').flatMap((line) => /^\s*(\S+):/.exec(line)?.[1] ?? []);
    expect(names).toEqual(['lo']);
    const dial = await runIn(sandbox, ['/bin/bash', '-c', 'exec 9<>/dev/tcp/1.1.1.1/443']);
    expect(dial.stderr).toContain('unreachable');
  });
});
