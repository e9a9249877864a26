import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SearchBox, SearchBoxProvider, SearchBoxSpec } from '../../core/content/search/search-box.ts';
import { explainBubblewrapFailure } from '../../host/explain-start-failure.ts';
import { connectInit } from '../../init/connect-init.ts';
import { findInit } from '../../init/find-init.ts';
import { ownerOf } from '../../lib/files/workspace-owner.ts';
import { findProgram } from '../../lib/processes/find-program.ts';
import { type ChildProcess, killProcessGroup, spawnProgram } from '../../lib/processes/spawn.ts';
import { type BoundFile, findProgramFiles, unavailable } from './find-program-files.ts';
import { initPath, toSearchBox } from './search-box.ts';

const environment = { PATH: '/usr/bin', LANG: 'C.UTF-8' };
/** In the order of the init. A search writes no file, and a hostile tree or pattern must not take much memory. */
const limits = [undefined, 0, undefined, undefined, 2 * 1024 ** 3];

/**
 * Opens search boxes on this machine with Linux namespaces. A program sees its workspace read-only, itself and the
 * libraries it needs: no network, no process of others, no capability, no directory to write to. The init of sandboxes
 * runs once for each box and starts all searches in it. A system call filter keeps each search from starting processes
 * and from reaching another search, so that none can affect one beside or after it.
 */
export function createSearchBoxes(): SearchBoxProvider {
  const known = new Map<string, Promise<BoundFile[]>>();
  return {
    async open({ directoryFd, workspacePath, programs }) {
      const program = findProgram('bwrap');
      if (!program) throw unavailable('bubblewrap (bwrap) is not installed');
      const key = programs.join();
      const shown = known.get(key) ?? findProgramFiles(programs);
      known.set(key, shown);
      try {
        const bwrapArguments = toBwrapArguments(workspacePath, [...(await shown), { file: findInit(), as: initPath }]);
        const stdio = ['ignore', 'ignore', 'pipe', 'pipe', directoryFd] as const;
        const owner = findOwner(directoryFd);
        const child = spawnProgram([program, ...bwrapArguments, '--', initPath, '--search-box'], {
          env: {},
          stdio,
          owner,
        });
        return await openBox(child, workspacePath);
      } catch (thrown) {
        // The libraries may have changed since they were found.
        known.delete(key);
        throw thrown;
      }
    },
  };
}

function toBwrapArguments(workspacePath: string, shown: readonly BoundFile[]): string[] {
  return [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--as-pid-1', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--clearenv'],
    ...shown.flatMap(({ file, as }) => ['--ro-bind', file, as]),
    // Mounts the workspace by its open descriptor; bubblewrap verifies that this is what it mounted.
    ...['--ro-bind-fd', '4', workspacePath, '--remount-ro', '/', '--chdir', workspacePath],
  ];
}

/** Looks at the directories above the workspace, which somebody may move meanwhile. */
function findOwner(directoryFd: number) {
  try {
    return ownerOf(directoryFd);
  } catch (cause) {
    throw unavailable('the workspace was moved just now', cause);
  }
}

async function openBox(child: ChildProcess, workspacePath: SearchBoxSpec['workspacePath']): Promise<SearchBox> {
  // If a limit of descriptors or processes is reached, there is no child, and there may be no streams.
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
    // The box prints nothing more; an open pipe would use a descriptor for as long as the box is open.
    child.stderr?.destroy();
    return toSearchBox({ init, socket, child, gone });
  } catch (cause) {
    // Bubblewrap may end before it has tied the box to its own life. The init ends when its socket closes.
    socket.destroy();
    killProcessGroup(child);
    await gone;
    throw unavailable(explainBubblewrapFailure(words.join('')), new Error(words.join('').trim(), { cause }));
  }
}
