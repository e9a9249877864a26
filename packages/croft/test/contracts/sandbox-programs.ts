import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type OpenedSandbox, runIn, shellIn } from './sandbox-run.ts';

/** Variables that every sandbox sets, and variables that name toolchains. */
const ownVariables = ['HOME', 'LC_CTYPE', 'PATH', 'TERM', 'TMPDIR', 'USER'];
const toolchainVariables = ['PYENV_ROOT', 'RUSTUP_HOME', 'VOLTA_HOME'];

export function describePrograms(open: () => Promise<OpenedSandbox>): void {
  test('runs a program by its arguments, without a shell', async () => {
    const { sandbox } = await open();
    const odd = ['$(id)', '; true', '', ' a  b ', '\'"`', '*', '\n', '-é✓'];
    const { stdout, code, signal } = await runIn(sandbox, ['printf', '<%s>', ...odd]);
    expect(stdout).toBe(odd.map((text) => `<${text}>`).join(''));
    expect([code, signal]).toEqual([0, null]);
  });

  test('reports the exit code, the name of a signal, and the resources used', async () => {
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

  test('gives a program only the given variables and a few of its own', async () => {
    const { sandbox, variables = [] } = await open();
    vi.stubEnv('CROFT_TEST_SECRET', 'not for programs');
    const { stdout } = await runIn(sandbox, ['env'], { environment: { GIVEN: 'a b=c', LC_CTYPE: 'C' } });
    vi.unstubAllEnvs();
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toEqual(expect.arrayContaining(['GIVEN=a b=c', 'LC_CTYPE=C']));
    const names = lines.map((line) => line.split('=')[0] ?? '').filter((name) => !toolchainVariables.includes(name));
    // Repositories created inside have no hooks.
    const ofGit = sandbox.name === 'none' ? [] : ['GIT_TEMPLATE_DIR'];
    expect(names.sort()).toEqual(['GIVEN', ...ownVariables, ...ofGit, ...variables].sort());
    expect(stdout).not.toContain('not for programs');
  });

  test('a program starts with no signal ignored or blocked', async () => {
    const { sandbox } = await open();
    const { stdout } = await runIn(sandbox, ['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toBe('SigBlk: 0000000000000000 SigIgn: 0000000000000000 ');
  });

  test('starts in the workspace, or in the given directory', async () => {
    const { sandbox, directory } = await open();
    mkdirSync(join(directory, 'sub dir'));
    const below = `${sandbox.workspacePath}/sub dir`;
    expect((await runIn(sandbox, ['pwd'])).stdout).toBe(`${sandbox.workspacePath}\n`);
    expect((await runIn(sandbox, ['pwd'], { directory: below })).stdout).toBe(`${below}\n`);
    await shellIn(sandbox, 'echo made inside > made', { directory: below });
    expect(readFileSync(join(realpathSync(directory), 'sub dir/made'), 'utf8')).toBe('made inside\n');
  });

  test('rejects a program that cannot start, and starts the next', async () => {
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
