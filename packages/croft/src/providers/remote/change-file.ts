import { AppError } from '@croft/protocol';
import type { Change, CurrentFile, Files } from '../../core/files.ts';
import { maxWholeBytes } from '../../disk/read.ts';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import { channels, readCurrent } from '../../link/methods/files.ts';
import type { Asking } from './asking.ts';

export interface ChangerOptions {
  at(path: string): { readonly place: string; readonly path: string };
  readonly write: Files['write'];
}

/**
 * What is decided here has to be of what is there: it is written on the condition that nothing changed. Changes of one
 * file wait for each other, by the name they use and then by where that leads.
 */
export function createChanger(asking: Asking, { at, write }: ChangerOptions): Pick<Files, 'change'> {
  const locks = createKeyedLock();

  async function look(path: string): Promise<CurrentFile | undefined> {
    const asked = asking.begin(readCurrent, { ...at(path), maxBytes: maxWholeBytes });
    const [found, bytes] = await asked.withBytes(channels.answer, maxWholeBytes);
    if (found === null) return undefined;
    const { hasContent, ...file } = found;
    return { ...file, content: () => (hasContent ? bytes : tooLarge(path, file.size)) };
  }

  async function changeNow<Decided extends Change>(
    path: string,
    current: CurrentFile | undefined,
    decide: (current: CurrentFile | undefined) => Decided,
  ) {
    const change = decide(current);
    const expect = current ? { version: current.version } : 'absent';
    return { written: await write(path, change.bytes, { expect }), change };
  }

  return {
    change: (path, decide) =>
      locks.run(`as ${path}`, async () => {
        const seen = await look(path);
        const real = `at ${seen?.path ?? path}`;
        const isLate = locks.isHeld(real);
        return locks.run(real, async () => changeNow(path, isLate ? await look(path) : seen, decide));
      }),
  };
}

function tooLarge(path: string, size: number): never {
  const max = maxWholeBytes;
  throw new AppError('E_TOO_LARGE', `file is too large: ${path} (${size} bytes, at most ${max})`, {
    details: { path, size, max },
  });
}
