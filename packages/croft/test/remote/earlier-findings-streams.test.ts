import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { defaultSandboxOptions } from '../../src/app/app.ts';
import { createPeer } from '../../src/link/calls/create-peer.ts';
import { encodeFrame, frameTypes, stampFrame } from '../../src/link/transport/frames.ts';
import { connectPeers, createWirePair } from '../link/connect-peers.ts';
import { openTestFixture } from './ports-fixture.ts';

test('C2-14: input for a program there arrives in order', async () => {
  const { workspace } = await openTestFixture();
  const { limits, network } = defaultSandboxOptions;
  const sandbox = await workspace.openSandbox({ limits, network });
  const { signal } = new AbortController();
  const running = sandbox.start({ argv: ['cat'], hasInput: true, signal });
  const pieces = Array.from({ length: 3000 }, (_, index) => `${index}\n`);
  for (const piece of pieces) running.stdin.write(piece);
  running.stdin.end();
  expect(await text(running.stdout)).toBe(pieces.join(''));
  await running.exit;
  await sandbox.close();
});

test('C2-16: a runner cannot send into a stream of another link, whatever number it uses', async () => {
  const [server, runner] = connectPeers();
  runner.serve({
    'secret.stream': async (_, call) => {
      call.writable(1).end('of the right runner');
      return {};
    },
  });
  const own = server.call('secret.stream', {}, {});
  // Another runner on another link of the same server: the same numbers of calls, and none of them is that call.
  const other = createPeer({ isDialler: false, graceMs: 60_000 });
  const [near, far] = createWirePair();
  far.start({ onMessage() {}, onDrain() {}, onClose() {} });
  other.link.attach(near, 0);
  for (let call = 1; call <= 6; call++)
    far.send(stampFrame(encodeFrame(frameTypes.data, call, 1, Buffer.from('injected')), call, 0));
  await expect(other.peer.lost).resolves.toMatchObject({ code: 'E_RUNNER_LOST' });
  expect(await text(own.readable(1))).toBe('of the right runner');
  await own.answer;
  server.close('the test is over');
});
