import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { SearchBox, SearchBoxProvider, SearchBoxSpec } from '../../core/content/search-box.ts';
import { explainRefusal } from '../../host/explain-start.ts';
import { createInitFinder } from '../../init/binary.ts';
import { connectInit } from '../../init/client.ts';
import { findProgram } from '../../lib/find-program.ts';
import { type ChildProcess, killGroup, spawnProgram } from '../../lib/spawn.ts';
import { ownerOf } from '../../lib/workspace-owner.ts';
import { initPath, toBox } from './box.ts';
import { findPrograms, type Shown } from './programs.ts';

const environment = { PATH: '/usr/bin', LANG: 'C.UTF-8' };
/** In the order the init knows them. A search writes no file, and a hostile tree or pattern must not make it large. */
const limits = [undefined, 0, undefined, undefined, 2 * 1024 ** 3];

/**
 * Boxes on this machine by Linux namespaces: a program sees its workspace, read-only, itself and the libraries it
 * needs, and no network, no process of others, no capability, no place to write. What starts programs in it is the
 * init of sandboxes, once for all searches. Each is behind a fence that lets it start nothing and reach no other, so
 * that none can do anything to one beside or after it.
 */
export function createSearchBoxes(): SearchBoxProvider {
  const findInit = createInitFinder();
  const known = new Map<string, Promise<Shown[]>>();
  return {
    async open({ directory, workspacePath, programs }) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      const key = programs.join();
      const shown = known.get(key) ?? findPrograms(programs);
      known.set(key, shown);
      try {
        const fence = toFence(workspacePath, [...(await shown), { file: findInit(), as: initPath }]);
        const stdio = ['ignore', 'ignore', 'pipe', 'pipe', directory] as const;
        const owner = findOwner(directory);
        const child = spawnProgram([program, ...fence, '--', initPath, '--search-box'], { env: {}, stdio, owner });
        return await openBox(child, workspacePath);
      } catch (thrown) {
        // The libraries may be others by now.
        known.delete(key);
        throw thrown;
      }
    },
  };
}

function toFence(workspacePath: string, shown: readonly Shown[]): string[] {
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--as-pid-1', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--clearenv'],
    ...shown.flatMap(({ file, as }) => ['--ro-bind', file, as]),
    // By the handle itself; bubblewrap makes sure that this is what it mounted.
    ...['--ro-bind-fd', '4', workspacePath, '--remount-ro', '/', '--chdir', workspacePath],
  ];
}

/** Goes by the names above the directory, which another may change meanwhile. */
function findOwner(directory: number) {
  try {
    return ownerOf(directory);
  } catch (cause) {
    throw unavailable('the workspace was moved just now', cause);
  }
}

async function openBox(child: ChildProcess, workspacePath: SearchBoxSpec['workspacePath']): Promise<SearchBox> {
  // At a limit of handles or processes there is no child, and there may be no streams.
  if (child.pid === undefined) {
    const [cause] = await once(child, 'error');
    throw unavailable('bubblewrap cannot be started', cause);
  }
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const socket = child.stdio[3] as Socket;
  const words: string[] = [];
  (child.stderr as Readable).setEncoding('utf8').on('data', (chunk: string) => words.push(chunk));
  try {
    const init = await connectInit({ socket, workspacePath, environment, limits });
    // It has said all it has to say, and would hold a handle for as long as the box is open.
    child.stderr?.destroy();
    return toBox({ init, socket, child, gone });
  } catch (cause) {
    // Bubblewrap may end before it has tied the box to its life; without the socket, that ends by itself.
    socket.destroy();
    killGroup(child);
    await gone;
    throw unavailable(explainRefusal(words.join('')), new Error(words.join('').trim(), { cause }));
  }
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
