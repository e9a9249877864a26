import type { Socket } from 'node:net';
import type { RunningSearch, SearchBox, SearchCommand } from '../../core/content/search/search-box.ts';
import type { InitClient } from '../../init/connect-init.ts';
import { type ChildProcess, killProcessGroup } from '../../lib/processes/spawn.ts';

/** The path of the init in every search box. */
export const initPath = '/run/croft/init';
/** Longer than the kernel ever takes to end a namespace that nothing keeps alive. */
const goneWithinMs = 5000;

interface BoxParts {
  readonly init: InitClient;
  readonly socket: Socket;
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
}

/** Wraps a started box as a `SearchBox`. An idle box does not keep this process alive. */
export function toSearchBox({ init, socket, child, gone }: BoxParts): SearchBox {
  let underWay = 0;
  child.unref();
  socket.unref();
  const leave = () => {
    underWay -= 1;
    if (underWay === 0) socket.unref();
  };
  return {
    start(command) {
      const running = startIn(init, command);
      underWay += 1;
      socket.ref();
      running.exit.then(leave, leave);
      return running;
    },
    async close() {
      child.ref();
      init.close();
      const timer = setTimeout(() => killProcessGroup(child), goneWithinMs);
      await gone;
      clearTimeout(timer);
    },
    closed: init.closed,
  };
}

/**
 * A box has no /dev/null, so that the input is a pipe that ends at once. It has no /proc either, in which the init
 * would look for child processes: a search cannot leave its process group, so that killing the group is enough.
 */
function startIn(init: InitClient, { argv: [name, ...args], signal, withTimes }: SearchCommand): RunningSearch {
  signal.throwIfAborted();
  const mode = withTimes ? ['--search-with-times', withTimes.suffix] : ['--search'];
  const argv = [initPath, ...mode, `/usr/bin/${name}`, ...args] as const;
  const running = init.start({ argv, hasInput: true, signal: new AbortController().signal });
  running.stdin.end();
  const kill = () => running.signal('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const forget = () => signal.removeEventListener('abort', kill);
  running.exit.then(forget, forget);
  return { ...running, kill };
}
