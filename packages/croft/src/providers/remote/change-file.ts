import { AppError } from '@croft/protocol';
import type { ChangeOptions, CurrentFile, Files, FileVersion, NewContent } from '../../core/files/files.ts';
import { maxWholeBytes } from '../../disk/read/read-content.ts';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { channels, readCurrent } from '../../link/methods/files.ts';
import type { RpcClient } from './rpc/rpc-client.ts';

interface ChangerOptions {
  at(path: string): { readonly place: string; readonly path: string };
  readonly write: Files['write'];
}

/** A content up to this size comes along with the version. A larger one comes when the decision needs it. */
const sentAlong = 64 * 1024;

/**
 * Decides a change here and writes it on the runner, on the condition that the file is still the same. Changes of one
 * file wait for each other: first by the path that was given, then by the path it resolves to.
 */
export function createRemoteFileChanger(rpc: RpcClient, { at, write }: ChangerOptions): Pick<Files, 'change'> {
  const locks = createKeyedLock();

  async function readNow(path: string): Promise<CurrentFile | undefined> {
    const found = await ask(path, sentAlong);
    if (!found) return undefined;
    const { bytes, ...file } = found;
    return { ...file, content: () => bytes ?? readWhole(path, file) };
  }

  async function ask(path: string, maxBytes: number) {
    const asked = rpc.begin(readCurrent, { ...at(path), maxBytes });
    const [found, sent] = await asked.withBytes(channels.answer, maxBytes);
    if (found === null) return undefined;
    const { hasContent, ...file } = found;
    return { ...file, bytes: hasContent ? sent : undefined };
  }

  async function readWhole(path: string, { size, version }: FileVersion): Promise<Buffer> {
    if (size > maxWholeBytes) throw tooLarge(path, size);
    const found = await ask(path, maxWholeBytes);
    if (found?.bytes && found.version === version) return found.bytes;
    throw new AppError('E_STALE', `${path} changed while it was being changed here`, { details: { path } });
  }

  async function changeNow<Decided extends NewContent>(
    path: string,
    current: CurrentFile | undefined,
    decide: (current: CurrentFile | undefined) => Decided | Promise<Decided>,
    { allow }: ChangeOptions,
  ) {
    const change = await decide(current);
    const expect = current ? { version: current.version } : 'absent';
    return { written: await write(path, change.bytes, { expect, allow }), change };
  }

  return {
    change: (path, decide, options = {}) =>
      locks.run(`as ${path}`, async () => {
        const seen = await readNow(path);
        const real = `at ${seen?.path ?? path}`;
        const isLate = locks.isHeld(real);
        return locks.run(real, async () => changeNow(path, isLate ? await readNow(path) : seen, decide, options));
      }),
  };
}

function tooLarge(path: string, size: number): AppError {
  const max = maxWholeBytes;
  return new AppError('E_TOO_LARGE', `file is too large: ${path} (${size} bytes, at most ${max})`, {
    details: { path, size, max },
  });
}
