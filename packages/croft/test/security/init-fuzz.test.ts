import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  createInitFrameDecoder,
  encodeInitFrame,
  fromInit,
  type InitFrame,
  toInit,
} from '../../src/init/init-frames.ts';
import { makeDirectory } from '../support/harness.ts';
import { listInitSources, native } from '../support/sandboxes/native-sources.ts';
import { anyBytes, pieces, toPieces, toStart, validFrame } from './init-frames.ts';

/** In a process namespace of its own: an init that loses a subreaper ends everything that is not below another one. */
const ownProcesses = ['-rpf', '--kill-child', '--mount-proc'];
const freshId = 0xfffffff0;
const build = makeDirectory();
afterAll(() => build[Symbol.dispose]());

const program = build.at('init');
/** Reports go to files: of what a program became before it ran, the error output is the program's already. */
const logged = `log_path=${build.at('report')}`;
const missing = compile();
if (missing !== undefined) console.warn(`SKIPPED the fuzzing of the init: ${missing}`);

/** The reason to skip, if there is one. */
function compile(): string | undefined {
  const sources = listInitSources('.c').map((name) => join(native, name));
  // First whether there is a runtime at all, so that an error in our sources is not taken for one that is missing.
  const sanitize = ['-O1', '-g', '-fsanitize=address,undefined'];
  const probe = spawnSync('cc', [...sanitize, '-x', 'c', '-', '-o', build.at('probe')], {
    input: 'int main(void) { return 0; }',
  });
  if (probe.status !== 0 || spawnSync(build.at('probe')).status !== 0) return 'no compiler with sanitizers';
  if (spawnSync('unshare', [...ownProcesses, 'true']).status !== 0) return 'no process namespaces';
  const { status, stderr } = spawnSync('cc', [...sanitize, '-iquote', native, ...sources, '-o', program], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return undefined;
}

function takeReports(): string {
  const files = readdirSync(build.path).filter((name) => name.startsWith('report'));
  const reports = files.map((name) => readFileSync(build.at(name), 'utf8'));
  for (const name of files) rmSync(build.at(name));
  return reports.join('');
}

/** An init without a fence, ready. */
async function startInit() {
  const child = spawn('unshare', [...ownProcesses, program], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, ASAN_OPTIONS: logged, UBSAN_OPTIONS: `${logged}:print_stacktrace=1` },
  });
  const socket = child.stdio[3] as Duplex;
  const complaints = text(child.stderr as Readable);
  const exited = once(child, 'exit');
  const frames: InitFrame[] = [];
  let wake = Promise.withResolvers<void>();
  const decode = createInitFrameDecoder((frame) => {
    frames.push({ ...frame, payload: Buffer.from(frame.payload) });
    wake.resolve();
    wake = Promise.withResolvers();
  });
  socket.on('data', decode);
  // It is gone while we still write.
  socket.on('error', () => {});
  const gone = exited.then(() => {
    throw new Error('the init ended');
  });
  gone.catch(() => {});

  const init = {
    socket,
    frames,
    /** The first frame for which this holds, from those that came already on. */
    async next(matches: (frame: InitFrame) => boolean): Promise<InitFrame> {
      for (let from = 0; ; ) {
        for (; from < frames.length; from++) if (matches(frames[from]!)) return frames[from]!;
        await Promise.race([wake.promise, gone]);
      }
    },
    /** Hangs up, and tells how it ended. */
    async end() {
      socket.end();
      const [code, signal] = await exited;
      return { code, signal, complaints: (await complaints) + takeReports() };
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  await init.next(({ type }) => type === fromInit.ready);
  return init;
}
type Init = Awaited<ReturnType<typeof startInit>>;

/** That it still does its work. */
async function expectToRun(init: Init): Promise<void> {
  init.socket.write(toStart(freshId, ['sh', '-c', 'cat; echo err >&2; exit 7'], { hasInput: true }));
  init.socket.write(encodeInitFrame(toInit.input, freshId, 0, Buffer.from('hello')));
  init.socket.write(encodeInitFrame(toInit.endInput, freshId));
  const ending = await init.next(
    ({ type, id }) => id === freshId && [fromInit.exit, fromInit.failed].some((t) => t === type),
  );
  expect(ending).toMatchObject({ type: fromInit.exit });
  expect(ending.payload.readInt32LE(0)).toBe(7);
  const said = (stream: number) =>
    init.frames
      .filter(({ type, id, detail }) => id === freshId && type === fromInit.output && detail === stream)
      .map(({ payload }) => payload.toString())
      .join('');
  expect([said(1), said(2)]).toEqual(['hello', 'err\n']);
}

test.skipIf(missing)('any input is refused or ends the connection, and never breaks the init', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyBytes, { minLength: 1, maxLength: 30, size: 'max' }),
      pieces,
      async (frames, sizes) => {
        await using init = await startInit();
        for (const piece of toPieces(frames, sizes)) init.socket.write(piece);
        const { code, signal, complaints } = await init.end();
        expect({ signal, complaints }).toEqual({ signal: null, complaints: '' });
        expect([0, 2]).toContain(code);
      },
    ),
    { numRuns: 150, interruptAfterTimeLimit: 8000, endOnFailure: true },
  );
});

test.skipIf(missing)('after invalid frames it still runs a command', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(validFrame, { minLength: 20, maxLength: 80, size: 'max' }),
      pieces,
      async (frames, sizes) => {
        await using init = await startInit();
        for (const piece of toPieces(frames, sizes)) init.socket.write(piece);
        await expectToRun(init);
        expect(await init.end()).toEqual({ code: 0, signal: null, complaints: '' });
      },
    ),
    { numRuns: 60, interruptAfterTimeLimit: 10_000, endOnFailure: true },
  );
});

test.skipIf(missing).each([
  ['a size no server sends', Buffer.from(Uint32Array.of(1024 * 1024 + 1, 1, 1).buffer)],
  ['the largest size', Buffer.from(Uint32Array.of(0xffff_ffff, 1, 1).buffer)],
  ['type 0', encodeInitFrame(0, 1)],
  ['a type of its own', encodeInitFrame(fromInit.ready, 1)],
  ['a type after the last', encodeInitFrame(8, 1)],
  ['something where nothing is', Buffer.from(Uint32Array.of(0, 1, 0x1_0000 + toInit.kill).buffer)],
])('the init exits at %s', async (_, frame) => {
  await using init = await startInit();
  init.socket.write(frame);
  await expect(init.next(() => false)).rejects.toThrow('ended');
  expect(await init.end()).toEqual({ code: 2, signal: null, complaints: '' });
});

test.skipIf(missing)('more commands than there are slots are refused, and earlier ones live', async () => {
  await using init = await startInit();
  const ids = Array.from({ length: 260 }, (_, index) => index + 1);
  init.socket.write(Buffer.concat(ids.map((of) => toStart(of, ['cat'], { hasInput: true }))));
  for (const of of ids.slice(256)) {
    const { payload } = await init.next((frame) => frame.type === fromInit.failed && frame.id === of);
    expect(payload.readInt32LE(0)).toBe(11);
  }
  init.socket.write(Buffer.concat(ids.slice(0, 256).map((of) => encodeInitFrame(toInit.endInput, of))));
  for (const of of ids.slice(0, 256)) await init.next((frame) => frame.type === fromInit.exit && frame.id === of);
  await expectToRun(init);
  expect(await init.end()).toEqual({ code: 0, signal: null, complaints: '' });
});

test.skipIf(missing)('input beyond the window ends the input, and not the init', async () => {
  await using init = await startInit();
  for (const [index, bytes] of [1000, 65_536, 262_144, 262_145, 1_048_576].entries()) {
    // Takes nothing, so that all of it waits.
    init.socket.write(toStart(index + 1, ['sleep', '1000'], { hasInput: true, creditBytes: 0 }));
    const frame = encodeInitFrame(toInit.input, index + 1, 0, Buffer.alloc(bytes));
    for (let sent = 0; sent < 2 * 1_048_576; sent += bytes) init.socket.write(frame);
  }
  await expectToRun(init);
  expect(init.frames.some(({ type, id: of }) => type === fromInit.exit && of !== freshId)).toBe(false);
  expect(await init.end()).toEqual({ code: 0, signal: null, complaints: '' });
});

test.skipIf(missing)('a kill right behind a start is not lost', async () => {
  await using init = await startInit();
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const of of ids)
    init.socket.write(Buffer.concat([toStart(of, ['sleep', '1000']), encodeInitFrame(toInit.kill, of)]));
  const ended = ids.map((of) => init.next(({ type, id: which }) => type === fromInit.exit && which === of));
  // Those that were not killed sleep on; this is only how long we look at them.
  const isLate = once(AbortSignal.timeout(60_000), 'abort');
  await Promise.race([Promise.all(ended), isLate]);
  for (const promise of ended) promise.catch(() => {});
  const exits = new Set(init.frames.filter(({ type }) => type === fromInit.exit).map(({ id: of }) => of));
  expect(ids.filter((of) => !exits.has(of))).toEqual([]);
});
