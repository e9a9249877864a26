import { once } from 'node:events';
import * as net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { buildRelay, runInside } from '../support/sandboxes/run-relay.ts';

/** The relay alone, with something else than the proxy behind it. */
const relay = buildRelay();
afterAll(() => relay[Symbol.dispose]());

/** Without bubblewrap, which would bring loopback up. */
const ownNetwork = ['unshare', '-rnpf', '--kill-child', '--mount-proc'];
/** With little room between the relay and the program, so that what is on its way stays on its way. */
const narrowNetwork = [
  ...[...ownNetwork, 'sh', '-c'],
  'for which in wmem rmem; do echo 4096 16384 32768 > /proc/sys/net/ipv4/tcp_$which || exit 1; done; exec "$@"',
  'sh',
];

async function listenAt(handler: (socket: net.Socket) => void) {
  const directory = makeDirectory();
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    handler(socket);
  });
  const socketPath = directory.at('s');
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    ...{ socketPath, sockets },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      directory[Symbol.dispose]();
    },
  };
}

/** `script` sees `connect()`, `sleep()`, `relayTicks()` and prints what it finds. */
const prelude = `
  const net = require('net'), fs = require('fs');
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  const connect = () => { const s = net.connect({ port: 3128, host: '127.0.0.1', allowHalfOpen: true }); s.on('error', () => {}); return s; };
  const text = async (s) => { let all = ''; for await (const part of s) all += part; return all; };
  const relay = fs.readdirSync('/proc').find((pid) => /^\\d+$/.test(pid) && fs.readFileSync('/proc/' + pid + '/stat', 'utf8').includes('(relay)'));
  const relayTicks = () => fs.readFileSync('/proc/' + relay + '/stat', 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((a, b) => a + Number(b), 0);
`;
const inside = (socketPath: string, script: string, wrapper?: string[]) =>
  runInside({ relay: relay.program, socketPath, ...(wrapper && { wrapper }) }, [
    process.execPath,
    '-e',
    `${prelude};(async () => { ${script} })().then(() => process.exit())`,
  ]);

test('either side may stop sending and go on receiving', async () => {
  await using outside = await listenAt((socket) => {
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.on('end', () => socket.end(`heard ${Buffer.concat(parts).length}`));
  });
  const script = `const s = connect(); s.end(Buffer.alloc(1_000_000)); console.log(await text(s))`;
  expect((await inside(outside.socketPath, script)).stdout).toBe('heard 1000000\n');
  const heard = Promise.withResolvers<number>();
  await using speaker = await listenAt((socket) => {
    socket.resume().on('end', () => heard.resolve(socket.bytesRead));
    if (speaker.sockets.size === 1) socket.end('all I have to say');
    else void heard.promise.then((bytes) => socket.end(`heard ${bytes}`));
  });
  const listening = `const s = connect(); console.log(await text(s)); s.end(Buffer.alloc(1_000_000)); console.log(await text(connect()))`;
  expect((await inside(speaker.socketPath, listening)).stdout).toBe('all I have to say\nheard 1000000\n');
});

test('an answer is received although the server did not read the whole request', async () => {
  await using outside = await listenAt((socket) => {
    socket.once('data', async () => {
      await sleep(400);
      socket.end('no', () => socket.destroy());
    });
  });
  // It finds both at once: more to send, and an answer from a proxy that is gone.
  const script = `
    const s = connect(), answer = text(s);
    s.write('question');
    await sleep(200);
    process.kill(relay, 'SIGSTOP');
    s.write('more of it');
    await sleep(600);
    process.kill(relay, 'SIGCONT');
    console.log(await answer)`;
  expect((await inside(outside.socketPath, script)).stdout).toBe('no\n');
});

test('without a proxy the program gets the reason', async () => {
  using directory = makeDirectory();
  const script = `const s = connect(); s.write('x'); console.log(await text(s).catch((e) => e.code))`;
  const { stdout } = await inside(directory.at('gone'), script, ownNetwork);
  expect(stdout).toContain('HTTP/1.1 503 The network proxy of this sandbox is gone\r\n');
});

test('brings loopback up if it is down, and listens there', async () => {
  await using outside = await listenAt((socket) => socket.end('here'));
  const script = `console.log(await text(connect()))`;
  expect(await inside(outside.socketPath, script, ownNetwork)).toMatchObject({ stdout: 'here\n' });
});

test('connections closed by the proxy free their slots, even if the program keeps them', async () => {
  await using outside = await listenAt((socket) => socket.destroy());
  const script = `
    const all = [];
    for (let i = 0; i < 400; i++) { const s = connect(); s.resume(); all.push(s); await new Promise((done) => s.once('end', done).once('error', done)); }
    console.log(all.filter((s) => s.readableEnded || s.destroyed).length)`;
  expect((await inside(outside.socketPath, script)).stdout).toBe('400\n');
});

test('the 129th connection waits until another ends', async () => {
  await using outside = await listenAt((socket) => {
    socket.write('hello');
    socket.resume().on('end', () => socket.end());
  });
  const script = `
    const heard = (s) => new Promise((done) => s.once('data', () => done(true)));
    const all = Array.from({ length: 128 }, connect);
    await Promise.all(all.map(heard));
    const next = connect();
    const answer = heard(next);
    const t = relayTicks();
    console.log(await Promise.race([answer, sleep(1000)]), relayTicks() - t < 5);
    all[5].destroy();
    console.log(await Promise.race([answer, sleep(60_000)]))`;
  expect((await inside(outside.socketPath, script)).stdout).toBe('undefined true\ntrue\n');
});

/** Sends as much as anybody takes, then leaves while some of it is still on its way. */
function floodAndLeave(socket: net.Socket): void {
  const leaving = setTimeout(() => socket.destroy(), 500);
  const flood = () => {
    while (socket.write(Buffer.alloc(65_536)));
    leaving.refresh();
  };
  socket.on('drain', flood);
  flood();
}

test.concurrent.each([
  ['nobody speaks', () => {}, `s.resume()`],
  ['the program has stopped talking', () => {}, `s.resume().end()`],
  ['the proxy has stopped talking', (socket: net.Socket) => void socket.end('x'), `s.resume()`],
  ['the program does not read', (socket: net.Socket) => void socket.write(Buffer.alloc(20_000_000)), `s.pause()`],
  [
    'the program does not read what a closed proxy sent',
    (socket: net.Socket) => void socket.end(Buffer.alloc(8_000_000)),
    `s.pause()`,
  ],
  ['the program does not read and the proxy is gone', floodAndLeave, `s.pause()`],
  ['the proxy does not read', (socket: net.Socket) => void socket.pause(), `s.write(Buffer.alloc(20_000_000))`],
  ['the program is gone', (socket: net.Socket) => void socket.pause(), `s.write('x', () => s.resetAndDestroy())`],
])('costs nothing while %s', async (_, handler, script) => {
  await using outside = await listenAt(handler);
  // What is still on its way takes longer on a slow machine; what turns in circles is never quiet.
  const least = `let least = Infinity; for (let i = 0; i < 20 && least >= 5; i++) { const t = relayTicks(); await sleep(1000); least = Math.min(least, relayTicks() - t) }`;
  const measure = `const s = connect(); await sleep(100); ${script}; await sleep(1500); ${least}; console.log(least)`;
  const { stdout, stderr } = await inside(outside.socketPath, measure, narrowNetwork);
  expect(stderr).toBe('');
  expect(Number(stdout)).toBeLessThan(5);
});

test('inherits no handle of its parent, and passes none on', async () => {
  await using outside = await listenAt(() => {});
  const script = `
    console.log(fs.readdirSync('/proc/' + relay + '/fd').join());
    try { console.log(fs.readlinkSync('/proc/' + relay + '/fd/3')) } catch (e) { console.log(e.code) }`;
  expect((await inside(outside.socketPath, script)).stdout).toBe('0,1,2,3\nEACCES\n');
});

test('a thousand connections in sequence leave nothing behind', async () => {
  await using outside = await listenAt((socket) => void socket.pipe(socket));
  const script = `
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 50 }, async (_, i) => { const s = connect(); const word = 'x'.repeat(i * 1000 + 1); s.end(word); if ((await text(s)) !== word) console.log('lost'); }));
    console.log(/VmRSS:\\s+(\\d+)/.exec(fs.readFileSync('/proc/' + relay + '/status', 'utf8'))[1])`;
  const { stdout } = await inside(outside.socketPath, script);
  expect(Number(stdout)).toBeLessThan(2000);
  await vi.waitFor(() => expect([...outside.sockets].every((socket) => socket.destroyed)).toBe(true));
});
