import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explain, workspacePath } from '../../../../test/support/denials-fixture.ts';
import { gitSettings } from '../../control-files/control-file-names.ts';
import type { FailedCommand } from './find-denials-in-output.ts';

/** Returns layer, rule and target of each denial. */
function seen(output: string, more: Partial<FailedCommand> = {}): string[] {
  return explain(output, more).map(({ layer, rule, target }) => `${layer} ${rule} ${target}`);
}

describe('a write to a read-only path', () => {
  test.each([
    ["touch: cannot touch '/usr/x': Read-only file system", 'read-only-system /usr/x'],
    ['mkdir: cannot create directory ‘/foo’: Read-only file system', 'read-only-system /foo'],
    ["mv: cannot move 'a' to '/usr/a': Read-only file system", 'read-only-system /usr/a'],
    ['bash: line 1: /etc/passwd: Read-only file system', 'read-only-system /etc/passwd'],
    ['bash: line 1: /usr/two words: Read-only file system', 'read-only-system /usr/two words'],
    ['sh: 1: cannot create /usr/x: Read-only file system', 'read-only-system /usr/x'],
    ['tee: /usr/z: Read-only file system', 'read-only-system /usr/z'],
    ["sed: couldn't open temporary file /etc/sedMBQMOW: Read-only file system", 'read-only-system /etc/sedMBQMOW'],
    ['error: could not lock config file /etc/gitconfig: Read-only file system', 'read-only-system /etc/gitconfig'],
    ["OSError: [Errno 30] Read-only file system: '/usr/x'", 'read-only-system /usr/x'],
    ["Error: EROFS: read-only file system, open '/usr/x'", 'read-only-system /usr/x'],
    ["npm error rofs EROFS: read-only file system, mkdir '/usr/lib/n'", 'read-only-system /usr/lib/n'],
    ['open /usr/x: read-only file system', 'read-only-system /usr/x'],
    ['java.io.FileNotFoundException: /usr/x (Read-only file system)', 'read-only-system /usr/x'],
    ['Read-only file system @ rb_sysopen - /usr/x (Errno::EROFS)', 'read-only-system /usr/x'],
    [
      "could not create directory: '/root/.rustup/u': Read-only file system (os error 30)",
      'read-only-system /root/.rustup/u',
    ],
    [
      'error: failed to create `/usr/x`\n\nCaused by:\n  Read-only file system (os error 30)',
      'read-only-system /usr/x',
    ],
    ['error: failed to open: /usr/x\n\nCaused by:\n  Read-only file system (os error 30)', 'read-only-system /usr/x'],
    ['bash: line 1: /etc/passwd: Permission denied', 'read-only-system /etc/passwd'],
    ["touch: cannot touch '/etc/hosts': Permission denied", 'read-only-system /etc/hosts'],
    ['/bin/sh: 1: cannot create x: Read-only file system', 'read-only x'],
    ["touch: cannot touch '../x': Read-only file system", 'read-only ../x'],
    ['npm error code EROFS', 'read-only not named'],
  ])('%j', (line, reported) => {
    expect(seen(`before\n${line}\nafter\n`)).toEqual([`file ${reported}`]);
  });

  test('is explained with the directories that can be written', () => {
    expect(explain("touch: cannot touch '/usr/x': Read-only file system")[0]?.next).toContain('workspace or in /tmp');
  });
});

describe('a write to a control file', () => {
  test.each([
    ['bash: line 1: .git/config: Read-only file system', '.git/config'],
    [`bash: line 1: ${workspacePath}/.git/config: Read-only file system`, '.git/config'],
    [`error: could not write config file ${workspacePath}/.git/config: Device or resource busy`, '.git/config'],
    ["mv: cannot move '.git' to 'g': Device or resource busy", '.git'],
    ["mv: cannot move 'sub' to 'sub2': Device or resource busy", 'sub'],
    ["rm: cannot remove 'sub/.vscode/s.json': Read-only file system", 'sub/.vscode'],
    ["rm: cannot remove './.mcp.json': Device or resource busy", '.mcp.json'],
    ['sed: cannot rename ./sedOfyHBQ: Device or resource busy', 'sedOfyHBQ'],
    ["chmod: changing permissions of '.husky/pre-commit': Read-only file system", '.husky'],
    ["ln: failed to create hard link 'y' => '.mcp.json': Invalid cross-device link", '.mcp.json'],
    ["OSError: [Errno 18] Invalid cross-device link: 'README' -> '.git/config'", '.git/config'],
    ["OSError: [Errno 16] Device or resource busy: '.git' -> 'x'", '.git'],
    ["Error: EBUSY: resource busy or locked, unlink '.mcp.json'", '.mcp.json'],
    ["Error: EXDEV: cross-device link not permitted, rename 'a' -> '.zshrc'", '.zshrc'],
    ["rm: cannot remove '.git/modules/a/hooks/post-checkout': Read-only file system", '.git/modules/a/hooks'],
    ['tee: .git/info/attributes: Read-only file system', '.git/info/attributes'],
    ["touch: cannot touch 'hooks/pre-commit': Read-only file system", 'hooks/pre-commit'],
    [`touch: cannot touch '${workspacePath}/bare/config': Read-only file system`, 'bare/config'],
    ["error: unable to unlink old '.vscode/settings.json': Permission denied", '.vscode'],
    ['error: unable to create file .idea/x.xml: Operation not permitted', '.idea'],
  ])('%j', (line, reported) => {
    expect(seen(line)).toEqual([`file control-file ${reported}`]);
  });

  test('is explained once, however many control files were tried', () => {
    const tried = ['pre-push', 'update', 'commit-msg'].map(
      (name) => `rm: cannot remove '.git/hooks/${name}': Read-only file system`,
    );
    expect(seen(tried.join('\n'))).toEqual(['file control-file .git/hooks']);
  });

  test('has the same git names as the search of the init', () => {
    const sourceOf = (file: string) => readFileSync(join(import.meta.dirname, '../../../../native', file), 'utf8');
    const namesOf = (list: string, source: string) => {
      const body = new RegExp(`${list}\\[\\] = \\{([^}]*)\\}`).exec(source)?.[1] ?? '';
      return [...body.matchAll(/"([^"]+)"/g)].map(([, name]) => name).sort();
    };
    expect(namesOf('git_names', sourceOf('init/control-files/find-control-files.c'))).toEqual([...gitSettings].sort());
  });
});

describe('a path that the sandbox hides', () => {
  test.each([
    ['cat: /home/croft/.ssh/id_rsa: No such file or directory', '/home/croft/.ssh/id_rsa'],
    ["ls: cannot access '/home/someone': No such file or directory", '/home/someone'],
    ['cat: /home/me/projects.txt: No such file or directory', '/home/me/projects.txt'],
    ['cat: /root/x: No such file or directory', '/root/x'],
    ['cat: /etc/shadow: No such file or directory', '/etc/shadow'],
    ["ls: cannot access '/var/run/docker.sock': No such file or directory", '/var/run/docker.sock'],
    ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?', '/var/run/docker.sock'],
    ["FileNotFoundError: [Errno 2] No such file or directory: '/root/.aws/credentials'", '/root/.aws/credentials'],
    ["Error: ENOENT: no such file or directory, open '/home/other/a'", '/home/other/a'],
    ['Warning: Identity file /home/croft/.ssh/k not accessible: No such file or directory.', '/home/croft/.ssh/k'],
  ])('%j', (line, reported) => {
    expect(seen(line)).toEqual([`file not-visible ${reported}`]);
  });

  test('with keys is not offered to --allow-read', () => {
    expect(explain('cat: /home/croft/.ssh/id_rsa: No such file or directory')[0]?.next).toMatch(/as a secret/);
    expect(explain('cat: /home/other/x: No such file or directory')[0]?.next).toMatch(/--allow-read DIR/);
  });
});

describe('a host that the network policy refuses', () => {
  test.each([
    ['curl: (6) Could not resolve host: example.com', 'example.com'],
    ["curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server", '1.1.1.1'],
    ['Resolving example.com (example.com)... failed: Temporary failure in name resolution.', 'example.com'],
    ['wget: unable to resolve host address ‘example.com’', 'example.com'],
    ['Connecting to 1.1.1.1:80... failed: Network is unreachable.', '1.1.1.1'],
    ['bash: line 1: example.com: Temporary failure in name resolution', 'example.com'],
    ['bash: connect: Network is unreachable\nbash: line 1: /dev/tcp/1.1.1.1/80: Network is unreachable', '1.1.1.1'],
    ["fatal: unable to access 'https://u:p@github.com/a/b/': Could not resolve host: github.com", 'github.com'],
    ['ssh: Could not resolve hostname github.com: Temporary failure in name resolution', 'github.com'],
    ['ssh: connect to host 1.2.3.4 port 22: Network is unreachable', '1.2.3.4'],
    ['fatal: unable to look up github.com (port 9418) (Temporary failure in name resolution)', 'github.com'],
    ["  [cause]: Error: getaddrinfo EAI_AGAIN example.com\n    code: 'EAI_AGAIN',", 'example.com'],
    ["Error: connect ENETUNREACH 1.1.1.1:80 - Local (0.0.0.0:0)\n  code: 'ENETUNREACH',", '1.1.1.1'],
    [
      'npm error code EAI_AGAIN\nnpm error request to https://packages.example/x failed, reason: getaddrinfo EAI_AGAIN packages.example',
      'packages.example',
    ],
    [
      "HTTPSConnectionPool(host='python.example', port=443): Max retries (Failed to resolve 'python.example' ([Errno -3] Temporary failure in name resolution)",
      'python.example',
    ],
    ['urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>', 'not named'],
    ['OSError: [Errno 101] Network is unreachable', 'not named'],
    [
      "warning: spurious network error (3 tries remaining): [6] Couldn't resolve host name (Could not resolve host: index.example)",
      'index.example',
    ],
    ["W: Failed to fetch http://mirror.example/x  Temporary failure resolving 'mirror.example'", 'mirror.example'],
    ['dial tcp: lookup modules.example on [::1]:53: connect: network is unreachable', 'modules.example'],
    [
      'Get "https://modules.example/x": dial tcp: lookup modules.example on [::1]:53: read udp [::1]:3->[::1]:53: read: connection refused',
      'modules.example',
    ],
    ['dial tcp [2606:4700::1111]:443: connect: network is unreachable', '2606:4700::1111'],
    ['java.net.UnknownHostException: repo.maven.apache.org', 'repo.maven.apache.org'],
    [
      'error sending request for url (https://user@python.example/simple/): dns error: failed to lookup address information: Name or service not known',
      'python.example',
    ],
  ])('%j', (lines, host) => {
    expect(seen(lines)).toEqual([`network deny-all ${host}`]);
    expect(seen(lines, { network: 'restricted' })).toEqual([`network no-route ${host}`]);
    expect(seen(lines, { network: 'allow-all' })).toEqual([]);
  });

  test.each([
    ['example.com', 'deny-all', /no network\..* --allow-domain example\.com\.$/],
    ['1.2.3.4', 'deny-all', /--allow-cidr 1\.2\.3\.4\/32\.$/],
    ['example.com', 'restricted', /HTTPS_PROXY.* --allow-domain example\.com\.$/],
  ] as const)('has advice: %s in %s', (host, network, next) => {
    expect(explain(`connect to host ${host}: Network is unreachable`, { network })[0]?.next).toMatch(next);
  });

  test.each(['localhost port 3000', '127.0.0.1 port 8080'])('is not %s, on which no server listens', (own) => {
    expect(seen(`curl: (7) Failed to connect to ${own} after 0 ms: Couldn't connect to server`)).toEqual([]);
  });
});

describe('a limit that was reached', () => {
  test.each([
    ['OSError: [Errno 27] File too large', 'file-size 100 MB'],
    ['bash: line 1:   367 File size limit exceededhead -c 5G /dev/zero > big', 'file-size 100 MB'],
    ["OSError: [Errno 24] Too many open files: '/dev/null'", 'open-files 256 open files'],
    ["Error: EMFILE: too many open files, open '/dev/null'", 'open-files 256 open files'],
    ["cp: error writing '/tmp/q': No space left on device", 'disk /tmp'],
    ["dd: error writing '/dev/shm/y': No space left on device", 'disk /dev/shm'],
    [`cp: error writing '${workspacePath}/q': Disk quota exceeded`, 'disk 300 MB'],
    ["head: error writing 'standard output': No space left on device", 'disk 300 MB'],
    ['bash: fork: retry: Resource temporarily unavailable', 'processes 64 processes'],
    ['fatal error: Cannot allocate memory', 'memory 512 MB'],
  ])('%j', (line, reported) => {
    expect(seen(line)).toEqual([`limit ${reported}`]);
  });

  test.each([
    { code: null, signal: 'SIGXFSZ' },
    { code: 153, signal: null },
  ])('on file size is recognised by the end of the command: %j', (exit) => {
    expect(seen('', { exit })).toEqual(['limit file-size 100 MB']);
  });
});

describe('no denial is derived', () => {
  test.each([
    ['cat: notes.txt: No such file or directory'],
    ['cat: /usr/share/none: No such file or directory'],
    [`cat: ${workspacePath}/none: No such file or directory`],
    ['find: ‘/proc/1/fd’: Permission denied'],
    ['bash: line 1: .husky/pre-commit: Permission denied'],
    ['bash: line 1: ./run.sh: Permission denied'],
    ["chown: changing ownership of 'a': Operation not permitted"],
    ['unshare: unshare failed: Operation not permitted'],
    ["mv: cannot move '/mnt/a' to '/mnt/b': Device or resource busy"],
    ["ENOSPC: System limit for number of file watchers reached, watch 'src'"],
    ['1 test failed: expected 2 to be 3'],
  ])('from %j', (line) => {
    expect(seen(line)).toEqual([]);
  });

  test('from a successful command, whatever it printed', () => {
    const exit = { code: 0, signal: null };
    expect(seen("touch: cannot touch '/usr/x': Read-only file system", { exit })).toEqual([]);
  });

  test('about files if the sandbox does not guard files', () => {
    const output = "touch: cannot touch '/usr/x': Read-only file system\ncat: /root/x: No such file or directory";
    expect(seen(output, { guardsFiles: false })).toEqual([]);
  });
});

describe('the target of a denial', () => {
  const target = (path: string, more: Partial<FailedCommand> = {}) =>
    explain(`touch: cannot touch '${path}': Read-only file system`, more)[0]?.target ?? '';

  test('is one short line of plain text', () => {
    expect(target('/usr/\x1b[31mred\x07\ttab')).toBe('/usr/red tab');
    expect(target(`/usr/${'x'.repeat(4000)}`)).toMatch(/^\/usr\/x{194}…$/);
  });

  test('has no half of a secret where it is cut', () => {
    const redact = (text: string) => text.replaceAll('hunter2hunter2', '[REDACTED:x]');
    const path = `/usr/${'x'.repeat(185)}hunter2hunter2`;
    expect(target(path, { redact })).not.toContain('hunter');
    expect(target(path)).toContain('hunter');
  });
});
