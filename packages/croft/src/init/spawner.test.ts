import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, globSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeDirectory } from '../../test/support/harness.ts';
import { reportTemporaryBase } from '../lib/files/temporary-base.ts';
import { findInit } from './find-init.ts';
import { encodeInitFrame, toInit } from './init-frames.ts';
import { createSpawner, type SpawnRequest } from './spawner.ts';

const spawner = createSpawner(findInit);
const waiting = { interval: 20 };

async function start(script: string, changed: Partial<SpawnRequest> = {}, by = spawner) {
  const fixture = makeDirectory();
  const directory = openSync(fixture.path, 'r');
  const common = { owner: undefined, directoryFd: directory, groups: [], hasGate: false };
  const spawned = await by.start({ argv: ['/bin/sh', '-c', script], ...common, ...changed });
  onTestFinished(async () => {
    spawned.kill();
    await spawned.ended;
    closeSync(directory);
    fixture[Symbol.dispose]();
  });
  return { ...spawned, fixture };
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);
const spawnersOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--spawn'))
    .map(Number);

test('a program inherits only the handles it was promised', async () => {
  process.env.CROFT_TEST_SECRET = 'secret';
  onTestFinished(() => void delete process.env.CROFT_TEST_SECRET);
  const seen = await start('cut -d" " -f1,5,6 /proc/$$/stat >&2; env >&2', {});
  const [numbers = '', ...environment] = (await seen.ended).trim().split('\n');
  expect(new Set(numbers.split(' ')).size, 'it leads a group and a session').toBe(1);
  expect(environment).toEqual(['PWD=/']);
  const { ended } = await start('exec ls /proc/self/fd >&2', { groups: ['/dev/null'] });
  // The last descriptor is the directory that `ls` itself reads.
  expect((await ended).trim().split('\n')).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
});

test('a program starts in the root directory with its socket, its info pipe and its gate', async () => {
  const script = 'pwd >&3; printf "{ }" >&4; read -r line <&5; echo went on >&2';
  const { socket, infoText, ended, openGate } = await start(script, { hasGate: true });
  expect(await infoText).toBe('{ }');
  expect(String((await once(socket, 'data'))[0])).toBe('/\n');
  expect(await Promise.race([ended, new Promise((resolve) => setImmediate(() => resolve('waits')))])).toBe('waits');
  openGate();
  expect(await ended).toBe('went on\n');
});

test.skipIf(process.getuid?.() !== 0)('a program runs as its given owner, without groups of this process', async () => {
  const { ended } = await start('id -u >&2; id -G >&2', { owner: { uid: 12345, gid: 54321 } });
  expect(await ended).toBe('12345\n54321\n');
});

test('a program has exited when its socket says so, and not before', async () => {
  const { socket, ended } = await start('exec sleep 0.1');
  socket.resume();
  const events: string[] = [];
  await Promise.all([once(socket, 'close').then(() => events.push('closed')), ended.then(() => events.push('gone'))]);
  expect(events).toEqual(['closed', 'gone']);
});

test('kill ends a program and its process group', async () => {
  const { socket, ended, kill } = await start('sleep 1000 & echo $! >&3; wait');
  const pid = Number((await once(socket, 'data'))[0]);
  kill();
  await ended;
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), waiting);
});

test('opened ahead, the process is there before the first request, which uses it', async () => {
  const own = createSpawner(findInit);
  const before = spawnersOf(process.pid);
  own.open();
  own.open();
  const added = () => spawnersOf(process.pid).filter((pid) => !before.includes(pid));
  await expect.poll(added, waiting).toHaveLength(1);
  const [opened] = added();
  const { ended } = await start('true', {}, own);
  await ended;
  expect(added()).toEqual([opened]);
});

test.each([
  ['a program that is not there', { argv: ['/nonexistent'] as const }, 'No such file'],
  ['a group that is not there', { groups: ['/nonexistent/tasks'] }, 'No such file'],
])('%s is reported by the end', async (_, changed, reason) => {
  const { ended, infoText } = await start('true', changed);
  expect(await ended).toContain(reason);
  await expect(infoText).rejects.toThrow();
});

test('a NUL byte in an argument does not add another argument', async () => {
  await expect(start('true\0-c\0evil')).rejects.toThrow(RangeError);
});

test('a program starts in the open directory, whatever has its name now', async () => {
  const fixture = makeDirectory();
  mkdirSync(fixture.at('place'));
  const directory = openSync(fixture.at('place'), 'r');
  onTestFinished(() => {
    closeSync(directory);
    fixture[Symbol.dispose]();
  });
  renameSync(fixture.at('place'), fixture.at('moved'));
  mkdirSync(fixture.at('place'));
  const { ended } = await start('cd /proc/self/fd/6; pwd -P >&2', { directoryFd: directory });
  expect((await ended).trim()).toBe(fixture.at('moved'));
});

/** Starts a spawner process without `createSpawner`. */
async function startByHand() {
  const fixture = makeDirectory({ 'place/file': '', 'other/file': '' });
  const child = spawn(findInit(), ['--spawn', fixture.at('socket')], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
    fixture[Symbol.dispose]();
  });
  await once(child.stdio[3]!, 'data');
  return { fixture, child, path: fixture.at('socket') };
}

const identityOf = (path: string) => {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
};
const order = (workingDirectory: string, identity: string, script: string) => {
  const texts = ['', '', '', '999999', workingDirectory, identity, '0', '/bin/sh', '-c', script];
  return encodeInitFrame(toInit.start, 1, 0, Buffer.from(texts.map((part) => `${part}\0`).join('')));
};

test('without access to handles the path is used, and only if it is the same directory', async () => {
  const { fixture, path } = await startByHand();
  const say = async (identity: string) => {
    const socket = connect(path);
    socket.write(order(fixture.at('place'), identity, 'cd /proc/self/fd/6; pwd -P >&3'));
    return (await text(socket)).trim();
  };
  expect(await say(identityOf(fixture.at('place')))).toBe(fixture.at('place'));
  expect(await say(identityOf(fixture.at('other')))).toBe('');
});

test('the spawner serves only the process that started it', async () => {
  const { fixture, path } = await startByHand();
  const bytes = order(
    fixture.at('place'),
    identityOf(fixture.at('place')),
    `touch ${fixture.at('evil')}; echo done >&3`,
  );
  const script = `const socket = require('node:net').connect(${JSON.stringify(path)});
    socket.on('error', () => {}).write(Buffer.from('${bytes.toString('hex')}', 'hex'));
    socket.pipe(process.stdout);`;
  expect(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8', timeout: 100_000 })).toMatchObject({
    stdout: '',
    status: 0,
  });
  expect(existsSync(fixture.at('evil'))).toBe(false);
});

test('when the spawner is killed, its programs are reported as ended, and another spawner starts the next', async () => {
  const own = createSpawner(findInit);
  const before = spawnersOf(process.pid);
  const { ended } = await start('sleep 1000', {}, own);
  const [pid] = spawnersOf(process.pid).filter((found) => !before.includes(found));
  process.kill(pid!, 'SIGKILL');
  expect(await ended).toBe('');
  const second = await start('echo again >&2', {}, own);
  expect(await second.ended).toBe('again\n');
});

const holder = (then: string) => `
  import { openSync } from 'node:fs';
  import { createSpawner } from ${JSON.stringify(join(import.meta.dirname, 'spawner.ts'))};
  import { findInit } from ${JSON.stringify(join(import.meta.dirname, 'find-init.ts'))};
  const spawner = createSpawner(findInit);
  const request = { owner: undefined, directoryFd: openSync('/', 'r'), groups: [], hasGate: false };
  ${then}`;

test('a process with nothing left to do exits, and leaves nothing of its spawner', () => {
  const script = holder(`
    const { ended } = await spawner.start({ ...request, argv: ['/bin/sh', '-c', 'sleep 0.2; echo end >&2'] });
    process.stdout.write(process.pid + ' ' + await ended);`);
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 100_000,
  });
  expect({ stdout, status }).toEqual({ stdout: expect.stringMatching(/^\d+ end\n$/), status: 0 });
  expect(globSync(join(reportTemporaryBase().path, `spawner-${stdout.split(' ')[0]}-*`))).toEqual([]);
});

test('kill −9 of a process ends its spawner and the programs of that', async () => {
  const script = holder(`
    const { socket } = await spawner.start({ ...request, argv: ['/bin/sh', '-c', 'echo $PPID $$ >&3; exec sleep 1000'] });
    socket.pipe(process.stdout);`);
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const pids = String((await once(child.stdout, 'data'))[0])
    .trim()
    .split(' ')
    .map(Number);
  expect(pids.map(isAlive)).toEqual([true, true]);
  child.kill('SIGKILL');
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), waiting);
});
