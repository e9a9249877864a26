import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { collect, croft } from '../support/harness.ts';
import { openPty } from '../support/pty.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
const run: CliFixture['run'] = (...given) => fixture.run(...given);
const exec = (...line: string[]) => run(['exec', 'notes', '--', ...line]);
const sh = (script: string) => exec('bash', '-c', script);

beforeAll(async () => {
  fixture = await openCliFixture();
  await fixture.account.newWorkspace({}, 'notes');
});
afterAll(() => fixture[Symbol.asyncDispose]());

test('the exit code is that of the command, or says by which signal it ended', async () => {
  expect(await exec('echo', 'a  b', '$HOME', '--flag')).toEqual({
    exitCode: 0,
    stdout: 'a  b $HOME --flag\n',
    stderr: '',
  });
  expect(await sh('echo out; echo err >&2; exit 42')).toEqual({ exitCode: 42, stdout: 'out\n', stderr: 'err\n' });
  expect(await sh('kill -9 $$')).toMatchObject({ exitCode: 137 });
  expect(await sh('kill -TERM $$')).toMatchObject({ exitCode: 143 });
  expect(await exec('no-such-program')).toMatchObject({ exitCode: 127, stderr: expect.stringContaining('not found') });
  expect(await sh('printf "#!/bin/sh\n" > script')).toMatchObject({ exitCode: 0 });
  expect(await exec('./script')).toMatchObject({ exitCode: 126, stderr: expect.stringContaining('not executable') });
  const slow = await run(['exec', 'notes', '--timeout', '0.5', '--', 'sleep', '60']);
  expect(slow).toMatchObject({ exitCode: 124, stderr: expect.stringContaining('--timeout') });
});

test('what Croft itself cannot do is 125, and a mistake in the flags is 2', async () => {
  expect(await run(['exec', 'absent', '--', 'true'])).toMatchObject({
    exitCode: 125,
    stderr: expect.stringContaining('absent'),
  });
  const down = { CROFT_SERVER: 'http://127.0.0.1:2' };
  expect(await run(['exec', 'notes', '--', 'true'], { env: down })).toMatchObject({ exitCode: 125 });
  expect(await run(['exec', 'notes', '--agnt', 'x', '--', 'true'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('the nearest is --agent'),
  });
  expect(await run(['exec', 'notes'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('usage: croft exec'),
  });
});

test('output comes while the command runs', async () => {
  const child = spawn(
    croft,
    ['exec', 'notes', '--', 'bash', '-c', 'echo first; until [ -e go ]; do sleep 0.05; done; echo last'],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...fixture.env },
    },
  );
  const [output, closed] = [collect(child), once(child, 'close')];
  await output.find(/first\n/);
  expect(output.stdout()).toBe('first\n');
  await run(['files', 'put', '-', 'notes:go'], { input: 'x' });
  expect(await closed).toEqual([0, null]);
  expect(output.stdout()).toBe('first\nlast\n');
});

/** Text, random bytes, zeros, colours and half characters: 12 MB, the same in every run. */
const mixedBytes =
  '(seq -f "%.0f äöü €" 200000; openssl enc -aes-128-ctr -K 00 -iv 00 -in /dev/zero 2>/dev/null | head -c 5000000; ' +
  'head -c 1500000 /dev/zero; for i in $(seq 1000); do printf "\\033[31mred\\033[m\\r%4000d\\r\\n\\303" $i; done)';

test('12 MB of binary output arrive byte for byte, through a slow reader too', async () => {
  const digest = (await sh(`${mixedBytes} | sha256sum`)).stdout.slice(0, 64);
  const slow = `${croft} exec notes -- bash -c '${mixedBytes}' | (sleep 1; tee >(wc -c >&2) | sha256sum)`;
  const output = await inBash(slow);
  expect(output.stdout.slice(0, 64)).toBe(digest);
  expect(Number(output.stderr)).toBeGreaterThan(12_000_000);
});

async function inBash(line: string) {
  const child = spawn('bash', ['-c', line], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...fixture.env },
  });
  const output = collect(child);
  await once(child, 'close');
  return { stdout: output.stdout(), stderr: output.stderr() };
}

test('a secret in binary output is a mark, and a person is told', async () => {
  await fixture.account.send('PUT', '/v1/secrets/DEPLOY', { value: 'a8Fk29Zm4Qp71Xw3' });
  const print = `head -c 3000 /dev/zero; printf "\\377\${DEPLOY:0:5}\\033[31m\${DEPLOY:5}\\377"`;
  const line = `${croft} exec notes --secret DEPLOY -- bash -c '${print}' | tail -c +3001 | od -c -An | tr -d ' \n'`;
  expect(await inBash(line)).toEqual({
    stdout: '377[REDACTED:deploy]377',
    stderr: 'croft: the output has marks in place of secrets: deploy\n',
  });
});

test('a terminal gets text and colours, of programs that are told so, and nothing else that it would obey', async () => {
  const print =
    'printf "\\033[32mgreen $FORCE_COLOR\\033[0m\\033]52;c;aGk=\\007 \\033[2Aup\\n"; printf "\\033[1mbold" >&2';
  using pty = openPty(`${croft} exec notes -- bash -c '${print}'`, { env: { ...fixture.env, TERM: 'xterm-256color' } });
  expect(await pty.ended()).toBe(0);
  const seen = pty.text();
  expect(seen).toContain('\x1b[32mgreen 1\x1b[0m up\r\n');
  expect(seen).toContain('\x1b[1mbold\x1b[m');
  for (const gone of ['aGk', '\x1b]', '\x1b[2A']) expect(seen).not.toContain(gone);
  expect(await exec('bash', '-c', 'echo "[$FORCE_COLOR]"')).toMatchObject({ stdout: '[]\n' });
});

test('-i gives the command standard input to its end', async () => {
  const input = Array.from({ length: 60_000 }, (_, index) => `${index} äöü\n`).join('');
  const counted = await run(['exec', '-i', 'notes', '--', 'bash', '-c', 'wc -c; exit 4'], { input });
  expect(counted).toEqual({ exitCode: 4, stdout: `${Buffer.byteLength(input)}\n`, stderr: '' });
  expect(await run(['exec', '-i', 'notes', '--', 'cat'], { input: "it's\n" })).toMatchObject({
    exitCode: 0,
    stdout: "it's\n",
  });
});

test('Ctrl-C in a terminal ends the command inside, and exits with 130', async () => {
  const marker = 'sleep 300.1379';
  using pty = openPty(`${croft} exec notes -- bash -c 'echo begun; ${marker}; echo no'`, { env: fixture.env });
  await pty.until(/begun/);
  expect(countProcesses(marker)).toBeGreaterThan(0);
  pty.type('\u0003');
  expect(await pty.ended()).toBe(130);
  await expect.poll(() => countProcesses(marker)).toBe(0);
});

test('a reader that has enough ends the command inside', async () => {
  const line = `set -o pipefail; ${croft} exec notes -- yes 137.9 | head -1`;
  const child = spawn('bash', ['-c', line], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...fixture.env },
  });
  const output = collect(child);
  expect(await once(child, 'close')).toEqual([141, null]);
  expect({ stdout: output.stdout(), stderr: output.stderr() }).toEqual({ stdout: '137.9\n', stderr: '' });
  await expect.poll(() => countProcesses('yes 137.9')).toBe(0);
});

/** Processes of this machine, those in sandboxes too, that run exactly this program. */
function countProcesses(line: string): number {
  const lines = readdirSync('/proc').map((id) => readCommandLine(id));
  return lines.filter((words) => words === line).length;
}

function readCommandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').join(' ').trim();
  } catch {
    return '';
  }
}

test('a command waits for a person who has to agree, and one that is denied is 125', async () => {
  await fixture.account.newSandbox({ permissionMode: 'ask' }, 'careful');
  const ask = (name: string) => {
    const child = spawn(croft, ['exec', 'notes', '--sandbox', 'careful', '--', 'echo', name], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...fixture.env },
    });
    return { output: collect(child), closed: once(child, 'close') };
  };
  const nextCommand = async ({ output }: ReturnType<typeof ask>) =>
    (await output.find(/decide it with: croft (approvals approve \S+)/)).split(' ');
  const approved = ask('yes');
  expect(await run(await nextCommand(approved))).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^ap_\w+\tapproved\n$/),
  });
  expect(await approved.closed).toEqual([0, null]);
  expect(approved.output.stdout()).toBe('yes\n');
  const denied = ask('no');
  const [noun = '', , id = ''] = await nextCommand(denied);
  expect(await run([noun, 'deny', id, '--reason', 'not today'])).toMatchObject({ exitCode: 0 });
  expect(await denied.closed).toEqual([125, null]);
  expect(denied.output.stderr()).toContain('not today');
  expect(denied.output.stdout()).toBe('');
});

test('sh opens a terminal in a pseudo-terminal, of its size', async () => {
  using pty = openPty(`${croft} sh notes --sandbox box`, { env: fixture.env, columns: 77 });
  await pty.until(/[$#] $/);
  pty.type('stty size; exit 7\n');
  await pty.until(/40 77\s/);
  expect(await pty.ended()).toBe(7);
});
