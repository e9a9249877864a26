import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connectStdio, type McpSession, makeDirectory, runCroft } from '../support/harness.ts';
import { hasToolchains } from '../support/toolchains.ts';

const hasGo = await hasToolchains('go');
const secret = randomBytes(18).toString('hex');
const directory = makeDirectory({
  'repo/.git/HEAD': 'ref: refs/heads/main\n',
  'repo/.git/config': '[core]\n',
  'repo/.git/objects/keep': '',
  'repo/.mcp.json': '{}\n',
});
const eventsFile = directory.at('events');
let session: McpSession;

beforeAll(async () => {
  const limits = ['memory=200m', 'file=8m', 'open-files=64', 'disk=16m'].flatMap((limit) => ['--limit', limit]);
  const flags = ['--workspaces', `main=${directory.at('repo')}`, '--events', eventsFile, ...limits];
  // A client of 2026 would start a second process, which writes events too.
  session = await connectStdio(flags, { era: '2025', env: { CROFT_SECRET_KEY: secret } });
  await session.client.listTools();
});
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const bash = (command: string, more: Record<string, unknown> = {}) => session.call('bash', { command, ...more });
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { interval: 20 });

function eventsSince(start: number): { event: string; fields: Record<string, unknown> }[] {
  const lines = readFileSync(eventsFile, 'utf8').slice(start).trimEnd().split('\n');
  return lines.map((line) => LifecycleEvent.parse(JSON.parse(line)));
}

/** What a call answers, and what is written of it to the events. */
async function observe(tool: string, input: Record<string, unknown>) {
  const start = readFileSync(eventsFile, 'utf8').length;
  const answer = await session.call(tool, input);
  const events = eventsSince(start);
  const violations = events.filter(({ event }) => event === 'lifecycle.sandbox.violation').map(({ fields }) => fields);
  return { answer, events, violations };
}

describe('a refused access', () => {
  test.each([
    ['of a system file', 'touch /usr/x', 'file', 'read-only-system', '/usr/x'],
    ['of a control file', 'echo x >> .git/config', 'file', 'control-file', '.git/config'],
    ['to move a control file', 'mv .mcp.json other', 'file', 'control-file', '.mcp.json'],
    ['of a path of somebody else', 'cat /home/somebody/notes', 'file', 'not-visible', '/home/somebody/notes'],
    ['of a name', 'echo > /dev/tcp/example.com/80', 'network', 'deny-all', 'example.com'],
    ['of an address', 'echo > /dev/tcp/1.1.1.1/80', 'network', 'deny-all', '1.1.1.1'],
    ['of a large file', 'head -c 9000000 /dev/zero > large', 'limit', 'file-size', '8 MB'],
    ['of many files', 'for i in {1..99}; do exec {f}< .mcp.json; done', 'limit', 'open-files', '64 open files'],
    ['of much in /tmp', `head -c 7M /dev/zero > a; cp a /tmp/b && cp a /tmp/c && cp a /tmp/d`, 'limit', 'disk', '/tmp'],
    ['of much memory', 'head -c 400M /dev/zero | tail', 'limit', 'memory', '200 MB'],
  ])('%s is in the answer and among the events', async (_, command, layer, rule, target) => {
    const { answer, violations } = await observe('bash', { command });
    const denial = { layer, rule, target, next: expect.stringMatching(/^[A-Z].*\.$/) };
    expect(answer).toMatchObject({ isError: false, structured: { denials: [denial] } });
    const [{ next }] = answer.structured.denials;
    expect(answer.text).toContain(`\nrefused (${layer}, ${rule}): ${target}. Next: ${next}\n`);
    expect(violations).toEqual([
      { tool: 'bash', workspace: 'main', session: expect.any(String), layer, rule, target, next },
    ]);
  });

  test('of a system call is reported once, by the guard that refused it', async () => {
    const { answer, violations } = await observe('run_command', { cmd: 'unshare', args: ['--user', 'true'] });
    const denial = { layer: 'system-call', rule: 'unshare' };
    expect(answer.structured).toMatchObject({ exitCode: 1, denials: [denial] });
    expect(violations).toMatchObject([{ tool: 'run_command', ...denial }]);
  });

  test('in a program that goes on and succeeds is not guessed from what it printed', async () => {
    const { answer, violations } = await observe('bash', { command: 'touch /usr/x; echo done' });
    expect(answer.text).toMatch(/Read-only file system\ndone\n$/);
    expect(answer.structured.denials).toEqual([]);
    expect(violations).toEqual([]);
  });

  test('comes from a program without a shell too', async () => {
    const { answer, violations } = await observe('run_command', { cmd: 'touch', args: ['/usr/x', '/etc/y'] });
    const both = [{ target: '/usr/x' }, { target: '/etc/y' }];
    expect(answer.structured).toMatchObject({ exitCode: 1, denials: both });
    expect(violations).toMatchObject(both.map((denial) => ({ tool: 'run_command', ...denial })));
  });

  test('comes with a command that ran out of time', async () => {
    const { structured } = await bash('touch /usr/late; sleep 300', { timeout: 1 });
    expect(structured).toMatchObject({ timedOut: true, denials: [{ target: '/usr/late' }] });
  });

  test('to very many paths names a few', async () => {
    const { answer, violations } = await observe('bash', { command: 'touch /usr/{1..300}' });
    expect(answer.structured.denials).toHaveLength(5);
    expect(violations).toHaveLength(5);
  });
});

describe('without a network', () => {
  const refusal = (host: string) => ({
    layer: 'network',
    rule: 'deny-all',
    target: host,
    next: `This sandbox has no network. Ask the operator to start croft with --allow-domain ${host}.`,
  });

  test.each([
    ['whose output went elsewhere', 'curl -s https://one.example/ 2>&1 | tail -n 0', 'one.example'],
    ['that says nothing and succeeds', 'getent ahosts Two.Example. > /dev/null; true', 'two.example'],
    ['in another process, by an older call', `perl -e 'gethostbyname("three.example")' & wait; true`, 'three.example'],
  ])('a requested name is in the answer of a command %s', async (_, command, host) => {
    const { text, structured } = await bash(command);
    expect(structured).toMatchObject({ exitCode: 0, denials: [refusal(host)] });
    expect(text).toContain(`refused (network, deny-all): ${host}. Next: ${refusal(host).next}`);
  });

  test('npm fails at once instead of retrying for more than a minute', async () => {
    const { structured } = await bash('npm install --registry=https://packages.example/ a-package 2>&1 | tail -n 1', {
      timeout: 40,
    });
    expect(structured).toMatchObject({ exitCode: 0, timedOut: false, denials: [refusal('packages.example')] });
  });

  test('npm does not look for a newer npm, which would be one more refusal', async () => {
    const { structured } = await bash(
      `mkdir npm && cd npm && echo '{"scripts":{"x":"true"}}' > package.json && npm run x`,
      {
        timeout: 60,
      },
    );
    expect(structured).toMatchObject({ exitCode: 0, denials: [] });
  });

  test('lookups of local and reserved names are not reported', async () => {
    const names = 'localhost croft a.invalid b.localhost printer.local';
    const { structured } = await bash(
      `for name in ${names}; do getent ahosts $name; done; getent hosts 10.1.2.3; true`,
    );
    expect(structured.output).toMatch(/^::1 +STREAM localhost\n(?:.*\n)*127\.0\.0\.1 +STREAM/);
    expect(structured.denials).toEqual([]);
  });

  test('of very many lookups a few are reported, and commands still run', async () => {
    const ask = 'seq 1 200 | sed "s/$/.example.org/" | xargs -P 4 -n 50 getent ahosts';
    expect((await bash(`${ask}; echo done`)).structured).toMatchObject({ output: 'done\n', exitCode: 0 });
    expect((await bash('true')).structured.exitCode).toBe(0);
  });

  const query = [
    'import os, socket',
    'def query(name, type=1, flags=b"\\1\\0"):',
    '  labels = b"".join(bytes([len(label)]) + label for label in name.encode().split(b"."))',
    '  return b"\\x12\\x34" + flags + b"\\0\\1\\0\\0\\0\\0\\0\\0" + labels + b"\\0" + bytes([0, type]) + b"\\0\\1"',
    's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(10); s.connect(("127.0.0.1", 53))',
  ];
  const python = async (lines: readonly string[]) =>
    (await session.call('run_command', { cmd: '/usr/bin/python3', args: ['-c', [...query, ...lines].join('\n')] }))
      .structured;

  test('a lookup by a program’s own resolver is refused at once and reported', async () => {
    const ask =
      's.send(query("Own.Resolver.Example", 28)); r = s.recv(512); print(r[:2].hex(), r[2] >> 7, r[3] & 15, len(r))';
    expect(await python([ask])).toMatchObject({ stdout: '1234 1 3 38\n', denials: [refusal('own.resolver.example')] });
  });

  test.runIf(hasGo)('a lookup by a Go program is reported, wherever its output goes', async () => {
    const variables = 'GODEBUG=netdns=go GOFLAGS=-mod=mod GONOSUMDB=* GOPROXY=https://go.example';
    const { structured } = await bash(`${variables} go list -m -versions one.example/two > /dev/null 2>&1; true`);
    expect(structured).toMatchObject({ exitCode: 0, denials: [refusal('go.example')] });
  });

  test('invalid requests to the DNS server are ignored, and delay no other lookup', async () => {
    const lines = [
      'good = query("a.example")',
      'words = [b"", b"x", os.urandom(11), os.urandom(500), bytes(512), good[:12], good[:-1], good[:12] + b"\\xc0\\x0c\\0\\1\\0\\1",',
      '  good[:12] + b"\\x3f" * 400, good[:12] + b"\\4a\\0b.\\0\\0\\1\\0\\1", query("b.example", 1, b"\\x81\\0"), query("c.example", 16),',
      '  query(".".join(["d" * 63] * 4) + ".example"), b"\\xff" * 600]',
      'for i in range(4000): s.send(words[i % len(words)])',
      'import time; end = time.monotonic() + 20',
      'def answers():',
      '  s.send(query("after.example"))',
      '  s.settimeout(0.5)',
      '  while True:',
      '    try:',
      '      if b"after" in s.recv(512): return True',
      '    except socket.timeout: return False',
      'while not answers() and time.monotonic() < end: pass',
      'print("answered")',
    ];
    expect(await python(lines)).toMatchObject({ stdout: 'answered\n', denials: [refusal('after.example')] });
  });

  test('invalid requests to the nscd server are ignored, and delay no other lookup', async () => {
    const script = [
      'import os, socket, struct',
      'held = []',
      'for i in range(48):',
      '  s = socket.socket(socket.AF_UNIX); s.connect("/var/run/nscd/socket"); held.append(s)',
      '  words = [b"", b"x", os.urandom(400), struct.pack("iii", 2, 14, -1), struct.pack("iii", 2, 14, 2**31 - 1),',
      '    struct.pack("iii", 2, 14, 6) + b"a.b.cd", struct.pack("iii", 2, 14, 3) + b"\\0\\0\\0", struct.pack("iii", 2, 14, 9) + b"a b.c\\x1b.d\\0"]',
      '  try: s.send(words[i % len(words)])',
      '  except OSError: pass',
      'try: socket.getaddrinfo("after.example", 80)',
      'except socket.gaierror: print("answered")',
    ].join('\n');
    const { structured } = await session.call('run_command', { cmd: '/usr/bin/python3', args: ['-c', script] });
    expect(structured).toMatchObject({ stdout: 'answered\n', denials: [refusal('after.example')] });
  });
});

test('a host that is not allowed is reported for requests through the proxy and around it', async () => {
  using scratch = makeDirectory({ 'w/a': '' });
  const flags = ['--workspace', scratch.at('w'), '--allow-domain', 'good.test'];
  await using restricted = await connectStdio(flags, { era: '2025' });
  const run = async (command: string) => (await restricted.call('bash', { command })).structured.denials;
  expect(await run('curl -sS https://evil.test/')).toMatchObject([
    { layer: 'network', rule: 'domains', target: 'evil.test:443', next: expect.stringContaining('evil.test') },
  ]);
  expect(await run('echo > /dev/tcp/evil.test/80')).toMatchObject([
    { layer: 'network', rule: 'no-route', target: 'evil.test', next: expect.stringContaining('HTTPS_PROXY') },
  ]);
});

describe('an access refused to a background command', () => {
  async function start(command: string): Promise<string> {
    return (await bash(command, { run_in_background: true })).structured.shell_id;
  }
  const ended = (shell_id: string) =>
    eventually(async () => {
      const seen = await observe('bash_output', { shell_id });
      expect(seen.answer.structured.status).toBe('completed');
      return seen;
    });

  test('is explained once, to the first reader after the command has ended', async () => {
    const shell_id = await start('touch /usr/x || { printf "no newline"; exit 3; }');
    const { answer, violations } = await ended(shell_id);
    const denial = { layer: 'file', rule: 'read-only-system', target: '/usr/x' };
    expect(answer.structured).toMatchObject({ exitCode: 3, denials: [denial] });
    expect(answer.text).toMatch(/\nno newline\nrefused \(file, read-only-system\): \/usr\/x\. Next: .*\n$/);
    expect(violations).toMatchObject([{ tool: 'bash_output', ...denial }]);

    const again = await observe('bash_output', { shell_id });
    expect(again.answer.structured).toMatchObject({ output: answer.structured.output, denials: [] });
    expect(again.violations).toEqual([]);
  });

  test('is reported while the command runs, if the sandbox reports it at once', async () => {
    const shell_id = await start('head -c 400M /dev/zero | tail; echo went on; sleep 300');
    const denial = { layer: 'limit', rule: 'memory', target: '200 MB' };
    await eventually(async () => expect((await bash('true')).structured.denials).toMatchObject([denial]));
    expect((await session.call('bash_output', { shell_id })).structured).toMatchObject({
      status: 'running',
      denials: [],
    });
    await session.call('kill_shell', { shell_id });
  });

  test('of a command that succeeded is not reported', async () => {
    const { answer } = await ended(await start('touch /usr/x; true'));
    expect(answer.structured).toMatchObject({ exitCode: 0, denials: [] });
  });
});

describe('a secret', () => {
  const written = (start: number) => readFileSync(eventsFile, 'utf8').slice(start);

  test.each([
    ['whole', ''],
    ['where the target is cut', 'x'.repeat(185)],
  ])('is not in a target of an event, %s', async (_, before) => {
    const start = readFileSync(eventsFile, 'utf8').length;
    const { structured } = await bash(`touch "/usr/${before}$KEY"`, { secrets: ['key'] });
    expect(structured.denials).toMatchObject([{ rule: 'read-only-system' }]);
    expect(structured.denials[0].target).toMatch(before === '' ? /^\/usr\/\[REDACTED:key\]$/ : /^\/usr\/x+\[REDACTED/);
    expect(written(start)).toContain('lifecycle.sandbox.violation');
    expect(written(start)).not.toContain(secret.slice(0, 6));
  });

  test.each([
    ['command', { command: `echo ${secret}` }],
    ['command, where it is cut', { command: `: ${'x'.repeat(70)} ${secret}` }],
    ['list', { command: 'true', secrets: [secret] }],
    ['workspace', { command: 'true', workspace: secret }],
    ['unknown argument', { command: 'true', other: { deep: [{ er: secret }] } }],
    ['name of an argument', { command: 'true', [secret]: 1 }],
  ])('is not in the events with the arguments of a call: %s', async (_, input) => {
    const start = readFileSync(eventsFile, 'utf8').length;
    await session.call('bash', input);
    expect(written(start)).toContain('lifecycle.tool.call');
    expect(written(start)).not.toContain(secret.slice(0, 6));
  });

  test('is not in the events with the name of an unknown tool', async () => {
    const start = readFileSync(eventsFile, 'utf8').length;
    await session.call(secret).catch(() => {});
    expect(written(start)).not.toContain(secret.slice(0, 6));
  });
});

test('too deeply nested arguments are refused like unknown arguments', async () => {
  const input = `{"command":"echo fine","other":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  using scratch = makeDirectory({ 'w/a': '' });
  const flags = ['--workspace', scratch.at('w'), '--events', scratch.at('events')];
  const { exitCode, stderr } = await runCroft(['tool', 'bash', input, ...flags]);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('other') });
  expect(readFileSync(scratch.at('events'), 'utf8')).toContain(
    '"arguments":{"command":"echo fine","other":{"items":1}}',
  );
});
