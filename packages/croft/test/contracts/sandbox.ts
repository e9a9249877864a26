import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test, vi } from 'vitest';
import type { CommandSpec, Running, Sandbox } from '../../src/core/commands/sandbox.ts';

export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  /** The workspace on this machine. */
  readonly directory: string;
  /** Which variables it sets besides those that every sandbox does. */
  readonly variables?: readonly string[];
}

type Argv = CommandSpec['argv'];
type Options = Partial<Omit<CommandSpec, 'argv'>>;

/** What a sandbox sets by itself, and where toolchains are. */
const ownVariables = ['HOME', 'LC_CTYPE', 'PATH', 'TERM', 'TMPDIR', 'USER'];
const toolchainVariables = ['PYENV_ROOT', 'RUSTUP_HOME', 'VOLTA_HOME'];
const waiting = { interval: 10 };
const minute = 60;

export function startIn(sandbox: Sandbox, argv: Argv, options: Options = {}): Running {
  return sandbox.start({ argv, signal: new AbortController().signal, ...options });
}

/** Runs a program to its end. */
export async function runIn(sandbox: Sandbox, argv: Argv, options: Options = {}) {
  const running = startIn(sandbox, argv, options);
  const [stdout, stderr, exit] = await Promise.all([text(running.stdout), text(running.stderr), running.exit]);
  return { stdout, stderr, code: exit.code, signal: exit.signal, usage: exit.usage };
}

export const shellIn = (sandbox: Sandbox, script: string, options: Options = {}) =>
  runIn(sandbox, ['/bin/sh', '-c', script], options);

/** The command lines of all that runs in a sandbox. */
export async function listCommands(sandbox: Sandbox): Promise<string[]> {
  const { stdout } = await shellIn(sandbox, 'for file in /proc/[0-9]*/cmdline; do cat $file; echo; done 2>/dev/null');
  return stdout.split('\n').map((line) => line.replaceAll('\0', ' ').trimEnd());
}

/** A number of seconds that no other test sleeps for: it is found again in the list of commands. */
export function uniqueSeconds(): string {
  return String(10 * minute + randomBytes(4).readUInt32LE() / 2 ** 32);
}

/** What every sandbox promises. Whoever opens one sees to it that it is closed after its test. */
export function describeSandbox(name: string, open: () => Promise<OpenedSandbox>): void {
  describe(`${name} sandbox`, () => {
    describePrograms(open);
    describeStreams(open);
    describeEnds(open);
    describeClosing(open);
  });
}

function describePrograms(open: () => Promise<OpenedSandbox>): void {
  test('runs a program by its argv, with nothing read as shell', async () => {
    const { sandbox } = await open();
    const odd = ['$(id)', '; true', '', ' a  b ', '\'"`', '*', '\n', '-é✓'];
    const { stdout, code, signal } = await runIn(sandbox, ['printf', '<%s>', ...odd]);
    expect(stdout).toBe(odd.map((text) => `<${text}>`).join(''));
    expect([code, signal]).toEqual([0, null]);
  });

  test('tells the exit code, the name of a signal, and what it cost', async () => {
    const { sandbox } = await open();
    expect(await shellIn(sandbox, 'exit 77')).toMatchObject({ code: 77, signal: null });
    expect(await shellIn(sandbox, 'kill -SEGV $$')).toMatchObject({ code: null, signal: 'SIGSEGV' });
    const { usage } = await shellIn(sandbox, 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done');
    expect(usage.maxRssBytes).toBeGreaterThan(100_000);
    expect(usage.userMs + usage.systemMs).toBeGreaterThan(0);
  });

  test('keeps stdout and stderr apart', async () => {
    const { sandbox } = await open();
    const { stdout, stderr } = await shellIn(sandbox, 'echo out; echo err >&2; echo out again');
    expect({ stdout, stderr }).toEqual({ stdout: 'out\nout again\n', stderr: 'err\n' });
  });

  test('gives a program only the variables it was given and a few of its own', async () => {
    const { sandbox, variables = [] } = await open();
    vi.stubEnv('CROFT_TEST_SECRET', 'not for programs');
    const { stdout } = await runIn(sandbox, ['env'], { environment: { GIVEN: 'a b=c', LC_CTYPE: 'C' } });
    vi.unstubAllEnvs();
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toEqual(expect.arrayContaining(['GIVEN=a b=c', 'LC_CTYPE=C']));
    const names = lines.map((line) => line.split('=')[0] ?? '').filter((name) => !toolchainVariables.includes(name));
    expect(names.sort()).toEqual(['GIVEN', ...ownVariables, ...variables].sort());
    expect(stdout).not.toContain('not for programs');
  });

  test('a program starts with no signal ignored or held back', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toBe('SigBlk: 0000000000000000 SigIgn: 0000000000000000 ');
  });

  test('starts in the workspace, or where it is told to', async () => {
    const { sandbox, directory } = await open();
    mkdirSync(join(directory, 'sub dir'));
    const below = `${sandbox.workspacePath}/sub dir`;
    expect((await runIn(sandbox, ['pwd'])).stdout).toBe(`${sandbox.workspacePath}\n`);
    expect((await runIn(sandbox, ['pwd'], { directory: below })).stdout).toBe(`${below}\n`);
    await shellIn(sandbox, 'echo made inside > made', { directory: below });
    expect(readFileSync(join(realpathSync(directory), 'sub dir/made'), 'utf8')).toBe('made inside\n');
  });

  test('rejects what cannot start, and goes on', async () => {
    const { sandbox } = await open();
    const refused = { code: 'E_COMMAND_NOT_STARTED' };
    await expect(runIn(sandbox, ['no-such-program-anywhere'])).rejects.toMatchObject(refused);
    await expect(runIn(sandbox, ['/no/such/program'])).rejects.toMatchObject(refused);
    await expect(runIn(sandbox, [sandbox.workspacePath])).rejects.toMatchObject(refused);
    await expect(runIn(sandbox, ['true'], { directory: '/no/such/directory' })).rejects.toMatchObject(refused);
    expect((await runIn(sandbox, ['echo', 'still here'])).stdout).toBe('still here\n');
  });

  test('runs 100 commands at once, each with its own output', async () => {
    const { sandbox } = await open();
    const numbers = Array.from({ length: 100 }, (_, index) => String(index));
    const ended = await Promise.all(
      numbers.map((number) => shellIn(sandbox, `read x; echo ${number}; exit ${number}`)),
    );
    expect(ended.map(({ stdout }) => stdout)).toEqual(numbers.map((number) => `${number}\n`));
    expect(ended.map(({ code }) => code)).toEqual(numbers.map(Number));
  });
}

function describeStreams(open: () => Promise<OpenedSandbox>): void {
  test('feeds stdin and ends it; without input there is none', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['cat'], { hasInput: true });
    running.stdin.write('first ');
    running.stdin.end('last');
    expect(await text(running.stdout)).toBe('first last');
    expect(await running.exit).toMatchObject({ code: 0 });
    expect(await runIn(sandbox, ['cat'])).toMatchObject({ stdout: '', code: 0 });
  });

  test('carries 5 MB in and out intact, at the pace of the reader', async () => {
    const { sandbox } = await open();
    const bytes = randomBytes(5 * 1024 * 1024);
    const running = startIn(sandbox, ['cat'], { hasInput: true });
    const pieces = Array.from({ length: 80 }, (_, index) => bytes.subarray(index * 65_536, (index + 1) * 65_536));
    const fed = pipeline(Readable.from(pieces), running.stdin);
    const [echoed] = await Promise.all([buffer(running.stdout), fed, running.exit]);
    expect(digest(echoed)).toBe(digest(bytes));
  });

  test('makes a writer wait for a program that does not read', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['sleep', uniqueSeconds()], { hasInput: true });
    let isTaken = false;
    running.stdin.write(Buffer.alloc(5 * 1024 * 1024), () => {
      isTaken = true;
    });
    await askOften(sandbox);
    expect(isTaken).toBe(false);
    running.kill();
    expect(await running.exit).toMatchObject({ signal: 'SIGKILL' });
  });

  test('loses nothing of a slow reader, and holds little for it', async () => {
    const { sandbox } = await open();
    const size = 20_000_000;
    const running = startIn(sandbox, ['head', '-c', String(size), '/dev/zero']);
    let isOver = false;
    void running.exit.then(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(running.stdout.readableLength).toBeGreaterThan(100_000), waiting);
    await askOften(sandbox);
    expect(running.stdout.readableLength).toBeLessThan(1024 * 1024);
    expect(isOver).toBe(false);
    let [total, most] = [0, 0];
    for await (const chunk of running.stdout) {
      total += chunk.length;
      most = Math.max(most, running.stdout.readableLength);
    }
    expect(total).toBe(size);
    expect(most).toBeLessThan(1024 * 1024);
    expect(await running.exit).toMatchObject({ code: 0 });
  });

  test('gives a terminal of the asked size, and resizes it', async () => {
    const { sandbox } = await open();
    const script = 'tty; stty size; trap "stty size; exit 5" WINCH; echo set; while :; do read x; done';
    const running = startIn(sandbox, ['/bin/bash', '-c', script], {
      terminal: { rows: 31, columns: 97 },
      hasInput: true,
    });
    let seen = '';
    running.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk;
    });
    await vi.waitFor(() => expect(seen).toContain('set'), waiting);
    expect(seen).toMatch(/^\/dev\/pts\/\d+\r\n31 97\r\nset/);
    running.resize({ rows: 40, columns: 120 });
    // The shell looks at its signals when a line ends.
    running.stdin.write('\n');
    expect(await running.exit).toMatchObject({ code: 5 });
    expect(seen).toContain('40 120');
  });

  test('joins both outputs in a terminal, and ends its input', async () => {
    const { sandbox } = await open();
    const terminal = { rows: 24, columns: 80 };
    const running = startIn(sandbox, ['/bin/sh', '-c', 'echo err >&2; cat; echo over'], { terminal, hasInput: true });
    running.stdin.end('line\n');
    const stdout = await text(running.stdout);
    expect(stdout).toContain('err\r\n');
    expect(stdout).toContain('over\r\n');
    expect(await text(running.stderr)).toBe('');
  });
}

function describeEnds(open: () => Promise<OpenedSandbox>): void {
  /** Two generations away, in sessions of their own. */
  const scatter = (seconds: string) =>
    `setsid sh -c 'setsid sh -c "exec sleep ${seconds}" & exit' & (sleep ${seconds} &) ; exec sleep ${seconds}`;
  const countOf = async (sandbox: Sandbox, seconds: string) =>
    (await listCommands(sandbox)).filter((command) => command === `sleep ${seconds}`).length;

  test.each(['kill', 'abort'])('%s ends every descendant, however far it has gone', async (how) => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const controller = new AbortController();
    const running = startIn(sandbox, ['/bin/sh', '-c', scatter(seconds)], { signal: controller.signal });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(3), waiting);
    if (how === 'kill') running.kill();
    else controller.abort();
    expect(await running.exit).toMatchObject({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
  });

  test('kill ends what a program of many threads has set free', async (context) => {
    const { sandbox } = await open();
    const probe = `node -e "require('child_process').execFileSync(process.execPath, ['-e', ''])"`;
    // Where it is not there, or has too little memory for two of them.
    if ((await shellIn(sandbox, probe)).code !== 0) return context.skip();
    const seconds = uniqueSeconds();
    const free = `require('child_process').spawn('sleep', ['${seconds}'], { detached: true, stdio: 'ignore' }).unref()`;
    const inner = `${free}; setInterval(() => {}, 1000)`;
    const outer = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}]); setInterval(() => {}, 1000)`;
    for (let round = 0; round < 5; round++) {
      const running = startIn(sandbox, ['node', '-e', outer]);
      await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1), waiting);
      running.kill();
      await running.exit;
      await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
    }
  });

  test('a kill right after the start is not lost', async () => {
    const { sandbox } = await open();
    for (let round = 0; round < 20; round++) {
      const running = startIn(sandbox, ['sleep', uniqueSeconds()]);
      running.kill();
      const end = await within(running.exit);
      running.kill();
      expect(end).toMatchObject({ signal: 'SIGKILL' });
    }
  });

  test('a signal right after the start is not lost', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['sleep', uniqueSeconds()]);
    running.signal('SIGTERM');
    const end = await within(running.exit);
    running.kill();
    expect(end).toMatchObject({ signal: 'SIGTERM' });
  });

  test('starts nothing for a signal that is aborted already', async () => {
    const { sandbox } = await open();
    await expect(async () => startIn(sandbox, ['true'], { signal: AbortSignal.abort() }).exit).rejects.toThrow();
  });

  test('a signal reaches the program and its group', async () => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const running = startIn(sandbox, ['/bin/sh', '-c', `trap "exit 9" TERM; sleep ${seconds} & wait`]);
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1), waiting);
    running.signal('SIGTERM');
    expect(await running.exit).toMatchObject({ code: 9 });
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(0), waiting);
  });

  test('a child left behind neither delays the end nor is killed', async () => {
    const { sandbox } = await open();
    const seconds = uniqueSeconds();
    const ended = await within(shellIn(sandbox, `sleep ${seconds} & echo done`));
    expect(ended).toMatchObject({ stdout: 'done\n', code: 0 });
    // It may have been forked and not be called so yet.
    await vi.waitFor(async () => expect(await countOf(sandbox, seconds)).toBe(1));
  });

  test('a child left behind that never stops printing does not delay the end', async () => {
    const { sandbox } = await open();
    const running = startIn(sandbox, ['/bin/sh', '-c', 'yes & yes & yes & yes & exit 3']);
    running.stdout.resume();
    const end = await within(running.exit);
    running.kill();
    expect(end).toMatchObject({ code: 3 });
  });
}

function describeClosing(open: () => Promise<OpenedSandbox>): void {
  test('close ends every program, and then nothing starts', async () => {
    const { sandbox } = await open();
    const gone = { code: 'E_SANDBOX_UNAVAILABLE' };
    const { exit } = startIn(sandbox, ['sleep', uniqueSeconds()]);
    const rejected = expect(exit).rejects.toMatchObject(gone);
    await sandbox.close();
    await rejected;
    await sandbox.closed;
    await expect(async () => startIn(sandbox, ['true']).exit).rejects.toMatchObject(gone);
    await sandbox.close();
  });

  test('one sandbox closes without the other', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    await one.sandbox.close();
    expect((await runIn(other.sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });

  test('a command that cannot be written down is refused and forgotten', async () => {
    const { sandbox } = await open();
    await expect(async () => startIn(sandbox, ['echo', 'a\0b']).exit).rejects.toThrow();
    await expect(async () => startIn(sandbox, ['echo', 'x'.repeat(2_000_000)]).exit).rejects.toThrow();
    expect((await runIn(sandbox, ['echo', 'here'])).stdout).toBe('here\n');
  });
}

/** Enough turns of the sandbox for whatever is not held back to have come through. */
async function askOften(sandbox: Sandbox): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await runIn(sandbox, ['true']);
}

/** For an end that a bug would put off for ever. */
export async function within<T>(promise: Promise<T>, ms = 60_000): Promise<T | 'not in time'> {
  const late = Promise.withResolvers<'not in time'>();
  const timer = setTimeout(() => late.resolve('not in time'), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
