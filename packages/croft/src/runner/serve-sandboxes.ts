import { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import { parse } from '../core/parse.ts';
import { openSandbox, SandboxOrder } from '../link/methods/sandbox.ts';
import type { Incoming } from '../link/peer.ts';
import {
  createOwned,
  type Handlers,
  listen,
  mustBeWritable,
  type Owned,
  type Places,
  serving,
  untilAborted,
} from './serve-means.ts';

const maxSandboxes = 1000;
/** How soon what was refused is told of a program that goes on. */
const denialsMs = 1000;

export interface HeldSandbox {
  readonly sandbox: Sandbox;
  /** While a program runs, what is refused is told of. */
  working(): Disposable;
}

export function createSandboxes(): Owned<HeldSandbox> {
  return createOwned<HeldSandbox>('sandbox', maxSandboxes);
}

/** One call each: it is open while the call is, and is gone when that is answered. */
export function serveSandboxes(places: Places, sandboxes: Owned<HeldSandbox>): Handlers {
  return serving(openSandbox, async ({ place, limits, network }, call) => {
    const workspace = mustBeWritable(places.get(place));
    const sandbox = await workspace.openSandbox({ limits, network: parse(NetworkPolicy, network) });
    try {
      const { closing } = holdSandbox(sandboxes, sandbox, call);
      await Promise.race([closing, sandbox.closed, untilAborted(call.signal)]);
    } finally {
      await sandbox.close();
    }
    return null;
  });
}

/** Known to the link from now until it is gone, and told of. Answers what it is told to do. */
export function holdSandbox(sandboxes: Owned<HeldSandbox>, sandbox: Sandbox, call: Incoming) {
  const orders = { closing: Promise.withResolvers<void>(), work: Promise.withResolvers<void>() };
  orders.work.promise.catch(() => {});
  const id = sandboxes.add({ sandbox, working: createWatch(sandbox, call) });
  const leave = () => {
    sandboxes.delete(id);
    call.tell({ type: 'gone' });
  };
  // Also where something of it could not be taken away: that must not end the program.
  sandbox.closed.then(leave, leave);
  listen(call, SandboxOrder, ({ type }) => {
    if (type === 'close') orders.closing.resolve();
    else if (type === 'end') orders.work.resolve();
    else orders.work.reject(new Error('the work was given up'));
  });
  const { name, workspacePath, network, limits } = sandbox;
  call.tell({ type: 'open', sandbox: id, name, workspacePath, network, limits });
  return { closing: orders.closing.promise, work: orders.work.promise };
}

/** A sandbox is asked for what it refused and does not tell of it by itself. */
function createWatch(sandbox: Sandbox, call: Incoming): () => Disposable {
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const denials = sandbox.takeDenials();
    if (denials.length > 0) call.tell({ type: 'denials', denials });
  };
  return () => {
    running += 1;
    timer ??= setInterval(look, denialsMs).unref();
    return {
      [Symbol.dispose]() {
        running -= 1;
        if (running > 0) return;
        clearInterval(timer);
        timer = undefined;
      },
    };
  };
}
