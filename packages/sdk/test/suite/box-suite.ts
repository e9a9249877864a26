import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, type Croft, CroftError } from '../../src/index.ts';
import type { Subject } from './subject.ts';

/** What holds for every server: the real one over HTTP, the one inside the program, and the fake. */
export function testBoxes(open: () => Promise<Subject>): void {
  let subject: Subject;
  let croft: Croft;
  beforeAll(async () => {
    subject = await open();
    croft = subject.croft;
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  let count = 0;
  const openNew = (options?: Parameters<Croft['open']>[1]): Promise<Box> => croft.open(`box ${++count}`, options);

  test('five lines: open, run, look at the result, undo', async () => {
    subject.teach('echo changed > a.txt; exit 4', { exitCode: 4, writes: { 'a.txt': 'changed\n' } });
    await using box = await croft.open('notes');
    await box.files.write('a.txt', 'first\n');
    const { exitCode } = await box.exec('echo changed > a.txt; exit 4');
    expect([exitCode, await box.files.read('a.txt')]).toEqual([4, 'changed\n']);
    if (exitCode) await box.undo();
    expect(await box.files.read('a.txt')).toBe('first\n');
  });

  test('a name opens the same workspace again, and a second box has its files', async () => {
    await using one = await openNew();
    await one.files.write('deep/er/a.txt', 'here');
    await using other = await croft.open(one.name);
    expect(other.workspaceId).toBe(one.workspaceId);
    expect(other.agentId).toBe(one.agentId);
    expect(await other.files.read('deep/er/a.txt')).toBe('here');
    await expect(croft.open('nowhere', { create: false })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('reads, writes, edits, lists, finds, moves and deletes files', async () => {
    await using box = await openNew();
    const { files } = box;
    await files.write('src/a.ts', 'const one = 1;\nconst two = 1;\n');
    await files.write('b.bin', new Uint8Array([0, 255, 10, 13]));
    expect(await files.readBytes('b.bin')).toEqual(new Uint8Array([0, 255, 10, 13]));
    expect(await files.edit('src/a.ts', 'two = 1', 'two = $&')).toEqual({ replaced: 1 });
    expect(await files.read('src/a.ts')).toBe('const one = 1;\nconst two = $&;\n');
    expect((await files.list('src')).map(({ path, kind }) => [path, kind])).toEqual([['src/a.ts', 'file']]);
    expect((await files.list('', { recursive: true })).map(({ path }) => path)).toEqual(
      expect.arrayContaining(['b.bin', 'src', 'src/a.ts']),
    );
    expect(await files.glob('**/*.ts')).toEqual(['src/a.ts']);
    expect(await files.grep('two =')).toEqual([{ path: 'src/a.ts', line: 2, text: 'const two = $&;' }]);
    await files.move('src/a.ts', 'src/c.ts');
    expect([await files.exists('src/a.ts'), await files.exists('src/c.ts')]).toEqual([false, true]);
    await files.delete('src', { recursive: true });
    expect(await files.exists('src/c.ts')).toBe(false);
  });

  test('uploads and downloads streams', async () => {
    await using box = await openNew();
    await box.files.upload('up.txt', new Blob(['in ', 'pieces']).stream());
    expect(await new Response(await box.files.download('up.txt')).text()).toBe('in pieces');
  });

  test('says what is wrong with a file, as a code', async () => {
    await using box = await openNew();
    await expect(box.files.read('absent')).rejects.toMatchObject({ name: 'CroftError', code: 'E_FILE_NOT_FOUND' });
    await box.files.write('a.txt', 'x x');
    await expect(box.files.edit('a.txt', 'y', 'z')).rejects.toMatchObject({ code: 'E_NO_MATCH' });
    await expect(box.files.edit('a.txt', 'x', 'z')).rejects.toMatchObject({ code: 'E_MANY_MATCHES' });
    await expect(box.files.write('a.txt', 'z', { isNew: true })).rejects.toMatchObject({
      code: 'E_PRECONDITION_FAILED',
    });
    await expect(box.files.write('../out.txt', 'z')).rejects.toMatchObject({ name: 'CroftError' });
  });

  test('a command that fails is a result, and with `check` an error that has the result', async () => {
    const line = 'echo out; echo err >&2; exit 3';
    subject.teach(line, { stdout: 'out\n', stderr: 'err\n', exitCode: 3 });
    await using box = await openNew();
    const ended = { exitCode: 3, signal: null, timedOut: false, stdout: 'out\n', stderr: 'err\n', violations: [] };
    expect(await box.exec(line)).toMatchObject(ended);
    const thrown = await box.exec(line, { check: true }).catch((error: unknown) => error);
    expect(CroftError.is(thrown)).toBe(true);
    if (!(thrown instanceof CroftError) || thrown.code !== 'E_COMMAND_FAILED') throw thrown;
    expect(thrown.details.result).toMatchObject(ended);
    expect(thrown.message).toBe(`${line}: exit 3\nerr`);
  });

  test('the output of a command comes apart by stream to whoever iterates it', async () => {
    const line = 'echo out; echo err >&2';
    subject.teach(line, { stdout: 'out\n', stderr: 'err\n' });
    await using box = await openNew();
    const command = box.exec(line);
    const chunks = await Array.fromAsync(command);
    const of = (stream: string) => chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : [])).join('');
    expect([of('stdout'), of('stderr')]).toEqual(['out\n', 'err\n']);
    expect(await command).toMatchObject({ exitCode: 0 });
  });

  test('arguments of a program are read by no shell', async () => {
    subject.teach('echo $HOME; ls', { stdout: '$HOME; ls\n' });
    await using box = await openNew();
    expect((await box.exec(['echo', '$HOME; ls'])).stdout).toBe('$HOME; ls\n');
  });

  test('a command whose time runs out is ended with everything that it started', async () => {
    const line = 'sleep 918273 & sleep 918273';
    subject.teach(line, { hangs: true });
    subject.teach('pgrep -f [9]18273 || echo gone', { stdout: 'gone\n' });
    await using box = await openNew();
    await expect(box.exec(line, { timeout: 281 })).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
    expect(await box.exec(line, { timeout: 1 })).toMatchObject({ timedOut: true, exitCode: 124 });
    expect((await box.exec('pgrep -f [9]18273 || echo gone')).stdout).toBe('gone\n');
  });

  test('a command is ended by `kill`, and by a signal', async () => {
    subject.teach('sleep 600', { hangs: true });
    await using box = await openNew();
    const command = box.exec('sleep 600');
    await command.kill();
    expect(await command).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
    const stop = new AbortController();
    const stopped = box.exec('sleep 600', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
  });

  test('a command in the background goes on without its box, and is found again by its id', async () => {
    subject.teach('echo begun; sleep 600', { stdout: 'begun\n', hangs: true });
    await using first = await openNew({ session: 'lasting' });
    const id = await first.exec('echo begun; sleep 600', { background: true }).id;
    await using second = await croft.open(first.name, { session: 'lasting' });
    const found = second.attach(id);
    for await (const { text } of found) {
      expect(text).toBe('begun\n');
      break;
    }
    await found.kill();
    expect(await found).toMatchObject({ exitCode: null, signal: 'SIGKILL', stdout: 'begun\n' });
    await expect(second.attach('nobody')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('a command in the background that ends by itself is a result too', async () => {
    subject.teach('echo done; exit 2', { stdout: 'done\n', exitCode: 2 });
    await using box = await openNew();
    const command = box.exec('echo done; exit 2', { background: true });
    expect(await command).toMatchObject({ exitCode: 2, stdout: 'done\n' });
  });

  test('a snapshot is restored, and says what changed since', async () => {
    await using box = await openNew();
    await box.files.write('a.txt', 'one\n');
    expect(await box.snapshot('before')).toMatchObject({ name: 'before' });
    await box.files.write('a.txt', 'two\n');
    expect((await box.diff({ since: 'before' })).map(({ path }) => path)).toEqual(['a.txt']);
    expect((await box.diff())[0]?.diff).toContain('+two');
    await box.restore('before');
    expect(await box.files.read('a.txt')).toBe('one\n');
    expect((await box.snapshots()).map(({ name }) => name)).toContain('before');
    await expect(box.restore('absent')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  });

  test('a fork is a box of its own, and its changes come back with a merge', async () => {
    await using box = await openNew();
    await box.files.write('a.txt', 'one\n');
    await using fork = await box.fork(`fork-${count}`);
    await fork.files.write('b.txt', 'two\n');
    expect([await fork.files.read('a.txt'), await box.files.exists('b.txt')]).toEqual(['one\n', false]);
    expect(await box.merge(fork)).toMatchObject({ added: ['b.txt'], conflicts: [] });
    expect(await box.files.read('b.txt')).toBe('two\n');
  });

  test('a transaction shows what a command does before it is done', async () => {
    subject.teach('echo made > made.txt', { writes: { 'made.txt': 'made\n' } });
    await using box = await openNew();
    {
      await using dropped = await box.transaction('echo made > made.txt');
      expect(dropped.changes.added.map(({ path }) => path)).toEqual(['made.txt']);
    }
    expect(await box.files.exists('made.txt')).toBe(false);
    const kept = await box.transaction('echo made > made.txt');
    expect(kept.result).toMatchObject({ exitCode: 0 });
    expect(await kept.commit()).toMatchObject({ added: ['made.txt'] });
    expect(await box.files.read('made.txt')).toBe('made\n');
  });

  test('a call that a person has to agree to waits, and tells a denial with its reason', async () => {
    subject.teach('echo asked', { stdout: 'asked\n' });
    await using box = await openNew({ sandbox: { permissionMode: 'ask' } });
    const stop = new AbortController();
    const asked = croft.approvals.watch({ signal: stop.signal });
    const next = async () => {
      for (;;) {
        const { value } = await asked.next();
        if (value?.type === 'pending' && value.approval.agentId === box.agentId) return value.approval;
      }
    };
    const [approved, first] = await Promise.all([box.exec('echo asked'), next().then(approve)]);
    expect([approved.stdout, first.tool]).toEqual(['asked\n', 'run_command']);
    const denied = box.exec('echo asked').catch((thrown: unknown) => thrown);
    await croft.approvals.deny((await next()).approvalId, { reason: 'not today' });
    const thrown = await denied;
    if (!(thrown instanceof CroftError) || thrown.code !== 'E_APPROVAL_DENIED') throw thrown;
    expect(thrown.details.reason).toBe('not today');
    stop.abort();
    await Array.fromAsync(asked);
  });

  const approve = async (approval: { readonly approvalId: string; readonly tool: string }) => {
    await croft.approvals.approve(approval.approvalId);
    return approval;
  };

  test('a call that a person has to agree to is an error for a program that does not wait', async () => {
    await using box = await openNew({ sandbox: { permissionMode: 'ask' }, approvals: 'throw' });
    const thrown = await box.exec('echo never').catch((error: unknown) => error);
    if (!(thrown instanceof CroftError) || thrown.code !== 'E_APPROVAL_REQUIRED') throw thrown;
    expect(thrown.details.approval).toMatchObject({ tool: 'run_command', state: 'pending' });
    expect(thrown.details.approval.preview).toContain('echo never');
  });

  test('a box says where its workspace is, what its agent may do, and what a call would do', async () => {
    await using box = await openNew({ sandbox: { permissionMode: 'edit' } });
    expect(await box.root()).toBe('/workspaces/work');
    const [fence] = (await box.fence()).workspaces;
    expect([fence?.read.verdict, fence?.write.verdict, fence?.run.verdict]).toEqual(['runs', 'runs', 'asks']);
    expect(await box.ask('write', { file_path: 'a.txt', content: 'new' })).toMatchObject({ outcome: 'runs' });
    const asked = await box.ask('bash', { command: 'id' });
    expect(asked).toMatchObject({ outcome: 'asks', approval: { tool: 'bash', state: 'pending' } });
  });

  test('events say what happens in the account', async () => {
    subject.teach('echo seen', { stdout: 'seen\n' });
    await using box = await openNew();
    const stop = new AbortController();
    const { position } = await croft.client.audit.list({ limit: 1 });
    const events = croft.events({ signal: stop.signal, after: position });
    await box.exec('echo seen');
    for await (const event of events)
      if (event.type === 'audit' && event.record.action === 'call.ended') {
        expect(event.record.target).toBe('run_command');
        break;
      }
    stop.abort();
  });
}
