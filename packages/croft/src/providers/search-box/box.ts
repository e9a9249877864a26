import type { Socket } from 'node:net';
import type { SearchBox, SearchCommand, Searching } from '../../core/content/search-box.ts';
import type { InitClient } from '../../init/client.ts';
import { type ChildProcess, killGroup } from '../../lib/spawn.ts';

/** In every box. */
export const initPath = '/run/croft/init';
/** Longer than the kernel ever takes to end a namespace that nothing holds. */
const goneWithinMs = 5000;

export interface BoxParts {
  readonly init: InitClient;
  readonly socket: Socket;
  readonly child: ChildProcess;
  readonly gone: Promise<void>;
}

/** While nothing runs in it, it does not keep this process from ending. */
export function toBox({ init, socket, child, gone }: BoxParts): SearchBox {
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
      const timer = setTimeout(() => killGroup(child), goneWithinMs);
      await gone;
      clearTimeout(timer);
    },
    closed: init.closed,
  };
}

/**
 * There is no device in a box that would be an empty input, so that is a pipe. And no /proc, in which the init would
 * look for what a program has started: a search cannot leave its group, so that to end the group is enough.
 */
function startIn(init: InitClient, { argv: [name, ...args], signal, withTimes }: SearchCommand): Searching {
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
