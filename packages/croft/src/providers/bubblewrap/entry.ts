import { closeSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { Group } from '../../lib/cgroup/cgroup.ts';
import { type ChildProcess, killGroup } from '../../lib/spawn.ts';

const enterWithinMs = 10_000;

/** How a sandbox comes under its limits before the first program in it runs. */
export interface Entry extends Disposable {
  /** For bubblewrap. */
  readonly options: readonly string[];
  /** Its handles 4 and 5: where it tells of the sandbox, and what it waits for. */
  readonly handles: readonly ['pipe', 'pipe' | 'ignore'];
  /** Files by which the init enters before it does anything else: `FIRST_GROUP` of `native/init.c` and those after. */
  readonly doors: readonly number[];
  /** Answers the sandbox's first process, as this machine numbers it. */
  enter(child: ChildProcess): Promise<number>;
}

export function openEntry(group: Group | undefined): Entry {
  const doors = group?.openDoors?.() ?? [];
  // Where the init cannot enter by itself it is moved, and not let run until then.
  const moved = doors.length === 0 ? group : undefined;
  return {
    options: ['--info-fd', '4', ...(moved ? ['--block-fd', '5'] : [])],
    handles: ['pipe', moved ? 'pipe' : 'ignore'],
    doors,
    async enter(child) {
      const [told, gate] = (child.stdio as readonly unknown[]).slice(4) as [Readable, Duplex | null];
      gate?.on('error', () => {});
      const pid = await readPid(told, () => killGroup(child));
      await moved?.add(pid);
      gate?.end('.');
      return pid;
    },
    [Symbol.dispose]: () => doors.forEach((door) => void closeSync(door)),
  };
}

async function readPid(told: Readable, giveUp: () => void): Promise<number> {
  let text = '';
  const timer = setTimeout(giveUp, enterWithinMs);
  for await (const chunk of told.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('}')) break;
  }
  clearTimeout(timer);
  const pid = Number(/"child-pid": *(\d+)/.exec(text)?.[1]);
  if (!Number.isInteger(pid)) throw new Error('bubblewrap ended before it began');
  return pid;
}
