import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { mountsIn, unmountBelow } from './layers-fixture.ts';

/** A server of its own over a directory, with what it keeps. */
async function open(tree: Record<string, string> = {}, args: readonly string[] = []) {
  const workspace = makeDirectory(tree);
  const data = makeDirectory();
  // Others than this server's user must get through to it.
  chmodSync(data.path, 0o711);
  onTestFinished(() => data[Symbol.dispose]());
  onTestFinished(() => unmountBelow(data.path));
  onTestFinished(() => workspace[Symbol.dispose]());
  const connect = () => connectStdio(['--workspace', workspace.path, ...args], { env: { CROFT_DATA: data.path } });
  const session = await connect();
  onTestFinished(() => session[Symbol.asyncDispose]());
  return { workspace, data, session, connect };
}

async function begin({ call }: Pick<McpSession, 'call'>, command: string) {
  const answer = await call('bash', { command, transaction: true });
  expect(answer.isError, answer.text).toBe(false);
  return answer.structured;
}

const names = (rows: { path: string }[]) => rows.map(({ path }) => path);

describe('bash in a transaction', () => {
  test('answers with its changes and leaves the workspace unchanged until a commit', async () => {
    const { workspace, session } = await open({ 'a.txt': 'one\ntwo\n', gone: 'g', 'dir/b': 'b' });
    const { changes, output } = await begin(
      session,
      'sed -i s/two/2/ a.txt; rm gone; mkdir new; echo n > new/n; cat a.txt; mv dir moved',
    );
    expect(output).toBe('one\n2\n');
    expect(names(changes.added)).toEqual(['moved/b', 'new/n']);
    expect(names(changes.modified)).toEqual(['a.txt']);
    expect(names(changes.deleted)).toEqual(['dir/b', 'gone']);
    expect(changes.diff).toContain('-two\n+2');
    expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(existsSync(workspace.at('gone'))).toBe(true);

    const committed = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(committed.isError, committed.text).toBe(false);
    expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('one\n2\n');
    expect(readdirSync(workspace.path).sort()).toEqual(['a.txt', 'moved', 'new']);
    const again = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(again.text).toContain('there is no transaction');
  });

  test('that deletes everything deletes nothing until the commit', async () => {
    const { workspace, session } = await open({ a: '1', 'b/c': '2', '.hidden': '3' });
    const { changes } = await begin(session, 'rm -rf -- * .[!.]* ; ls -A');
    expect(names(changes.deleted)).toEqual(['.hidden', 'a', 'b/c']);
    expect(readdirSync(workspace.path).sort()).toEqual(['.hidden', 'a', 'b']);
    await session.call('transaction_discard', { transaction: changes.transaction });
    expect(readdirSync(workspace.path).sort()).toEqual(['.hidden', 'a', 'b']);
    const after = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(after.isError).toBe(true);
  });

  test('has a conflict with changes of the workspace meanwhile, and then commits nothing', async () => {
    const { workspace, session } = await open({ a: 'a\n', b: 'b\n' });
    const { changes } = await begin(session, 'echo mine > a; echo mine > b');
    writeFileSync(workspace.at('b'), 'somebody else\n');
    const refused = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('b');
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('a\n');
    expect(readFileSync(workspace.at('b'), 'utf8')).toBe('somebody else\n');
    writeFileSync(workspace.at('b'), 'b\n');
    const committed = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(committed.isError, committed.text).toBe(false);
    expect(readFileSync(workspace.at('b'), 'utf8')).toBe('mine\n');
  });

  test('has a conflict with a file that changed while the command ran, before or after', async () => {
    const { workspace, data, session } = await open({ a: 'a\n' });
    const running = session.call('bash', {
      command: 'echo mine > a; until [ -e go ]; do sleep 0.05; done',
      transaction: true,
    });
    const inLayer = (name: string) => globSync(data.at(`layers/*/merged/${name}`))[0] ?? '';
    await vi.waitFor(() => expect(readFileSync(inLayer('a'), 'utf8')).toBe('mine\n'), { timeout: 30_000 });
    writeFileSync(workspace.at('a'), 'theirs\n');
    writeFileSync(`${dirname(inLayer('a'))}/go`, '');
    const { changes } = (await running).structured;
    const refused = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(refused.text).toContain('changed in the workspace while');
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('theirs\n');
  });

  test('can be undone after its commit', async () => {
    const { workspace, session } = await open({ a: 'before\n' });
    const { changes } = await begin(session, 'echo after > a; echo new > n');
    await session.call('transaction_commit', { transaction: changes.transaction });
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('after\n');
    const undone = await session.call('undo', {});
    expect(undone.isError, undone.text).toBe(false);
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('before\n');
    expect(existsSync(workspace.at('n'))).toBe(false);
  });

  test('starts in the directory of the session, and cannot run in the background', async () => {
    const { session } = await open({ 'sub/x': 'x' });
    await session.call('cd', { path: 'sub' });
    expect((await begin(session, 'ls')).output).toBe('x\n');
    for (const more of [{ run_in_background: true }, { on_timeout: 'background' }]) {
      const { isError, text } = await session.call('bash', { command: 'true', transaction: true, ...more });
      expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('background') });
    }
  });

  test('ends its background processes with it, and a failed or late command answers like any other', async () => {
    const { session, data } = await open({ a: 'a' });
    const left = await begin(session, 'sleep 1000 & echo $! > pid; exit 3');
    expect(left.exitCode).toBe(3);
    const late = await session.call('bash', { command: 'echo x > x; sleep 60', transaction: true, timeout: 1 });
    expect(late.structured.timedOut).toBe(true);
    expect(names(late.structured.changes.added)).toEqual(['x']);
    expect(mountsIn(data.path)).toEqual([]);
    expect(readdirSync(data.at('layers'))).toEqual([]);
  });

  test('keeps links out as links, and control files unchanged', async () => {
    const { workspace, session } = await open({ a: 'a' });
    const outside = makeDirectory({ secret: 'untouched' });
    onTestFinished(() => outside[Symbol.dispose]());
    symlinkSync(outside.path, workspace.at('out'));
    spawnSync('git', ['init', '-q', workspace.path]);
    const { changes } = await begin(session, 'ln -s /etc/passwd pw; rm out; mkdir out; echo mine > out/secret');
    const committed = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(committed.isError, committed.text).toBe(false);
    expect(readFileSync(workspace.at('out/secret'), 'utf8')).toBe('mine\n');
    expect(readFileSync(outside.at('secret'), 'utf8')).toBe('untouched');
  });

  test('can run git, and commit the result', async () => {
    const { workspace, session } = await open({ a: 'a' });
    const git = (...args: string[]) => spawnSync('git', ['-C', workspace.path, ...args], { encoding: 'utf8' });
    git('init', '-q');
    const { changes, output } = await begin(
      session,
      'git add a && git -c user.name=n -c user.email=e commit -qm first && git log --oneline | wc -l',
    );
    expect(output).toBe('1\n');
    expect(git('log', '--oneline').status).not.toBe(0);
    const committed = await session.call('transaction_commit', { transaction: changes.transaction });
    expect(committed.isError, committed.text).toBe(false);
    expect(git('log', '--format=%s').stdout).toBe('first\n');
    expect(git('fsck').status).toBe(0);
  });

  test('belongs to its session, and survives a restart', { timeout: 120_000 }, async () => {
    const { workspace, session, data, connect } = await open({ a: 'a' });
    const { changes } = await begin(session, 'echo b > a');
    const pid = session.transport && 'pid' in session.transport ? (session.transport.pid as number) : 0;
    process.kill(pid, 'SIGKILL');
    await session[Symbol.asyncDispose]().catch(() => {});
    await using next = await connect();
    const { text, isError } = await next.call('transaction_commit', { transaction: changes.transaction });
    // Over stdio every connection is the same default session, or another one: either way nothing is half done.
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe(isError ? 'a' : 'b\n');
    expect(text).toMatch(isError ? /there is no transaction/ : /committed/);
    expect(mountsIn(data.path)).toEqual([]);
  });

  test('leaves the workspace unchanged if the server is killed, and the next server removes its layer', {
    timeout: 120_000,
  }, async () => {
    const { workspace, session, data, connect } = await open({ a: 'a' });
    const pid = (session.transport as unknown as { pid: number }).pid;
    const running = session.call('bash', { command: 'rm -f a; echo new > b; sleep 100', transaction: true });
    running.catch(() => {});
    const isDone = () => expect(globSync(data.at('layers/*/merged/b'))).toHaveLength(1);
    await vi.waitFor(isDone, { timeout: 30_000 });
    process.kill(pid, 'SIGKILL');
    await running.catch(() => {});
    expect(readdirSync(workspace.path)).toEqual(['a']);
    await using next = await connect();
    await next.call('list', {});
    await vi.waitFor(() => expect(readdirSync(data.at('layers'))).toEqual([]), { timeout: 20_000 });
    expect(mountsIn(data.path)).toEqual([]);
    expect(readFileSync(workspace.at('a'), 'utf8')).toBe('a');
  });

  test('is limited to twenty at once', { timeout: 120_000 }, async () => {
    const { session } = await open({});
    for (let count = 0; count < 20; count += 1) await begin(session, `echo ${count} > f`);
    const { text } = await session.call('bash', { command: 'true', transaction: true });
    expect(text).toContain('transactions are open');
  });

  test('is refused in a read-only workspace', async () => {
    const { session } = await open({ a: 'a' }, ['--readonly', '--tools', 'all']);
    const { tools } = await session.client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('transaction_commit');
  });
});

test('commits odd names', async () => {
  const { workspace, session } = await open({});
  const { changes } = await begin(session, `printf x > $'a\\nb'; printf y > $'\\xff\\xfe'; printf z > 'sp ace\\'`);
  const committed = await session.call('transaction_commit', { transaction: changes.transaction });
  expect(committed.isError, committed.text).toBe(false);
  const found = readdirSync(workspace.path, { encoding: 'buffer' }).map((name) => name.toString('latin1'));
  expect(found.sort()).toEqual(['a\nb', 'sp ace\\', '\xff\xfe']);
  mkdirSync(workspace.at('d'));
  rmSync(workspace.at('d'), { recursive: true });
});
