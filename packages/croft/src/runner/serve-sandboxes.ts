import { parseBySchema } from '../core/arguments/parse-by-schema.ts';
import { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import { openSandbox, SandboxOrder } from '../link/methods/sandbox.ts';
import {
  createHandleTable,
  type HandleTable,
  type LinkHandlers,
  listen,
  mustBeWritable,
  type ServedWorkspaces,
  serveMethod,
  untilAborted,
} from './serve-helpers.ts';

const maxSandboxes = 1000;
/** How often denials are reported while a program runs. */
const denialsMs = 1000;

export interface ServedSandbox {
  readonly sandbox: Sandbox;
  /** Reports denials regularly until the result is disposed of. */
  reportWhileRunning(): Disposable;
}

export function createServedSandboxes(): HandleTable<ServedSandbox> {
  return createHandleTable<ServedSandbox>('sandbox', maxSandboxes);
}

/**
 * Serves sandboxes. Each is one long call: the sandbox is open while the call is, and is closed before the call is
 * answered.
 */
export function serveSandboxes(workspaces: ServedWorkspaces, sandboxes: HandleTable<ServedSandbox>): LinkHandlers {
  return serveMethod(openSandbox, async ({ place: handle, limits, network, allowControl }, call) => {
    const workspace = mustBeWritable(workspaces.get(handle));
    const sandbox = await workspace.openSandbox({
      limits,
      network: parseBySchema(NetworkPolicy, network),
      allowControl,
    });
    try {
      const { closing } = registerSandbox(sandboxes, sandbox, call);
      await Promise.race([closing, sandbox.closed, untilAborted(call.signal)]);
    } finally {
      await sandbox.close();
    }
    return null;
  });
}

/** Registers a sandbox on the link until it closes, and reports it to the server. Returns what the server orders. */
export function registerSandbox(sandboxes: HandleTable<ServedSandbox>, sandbox: Sandbox, call: ServedCall) {
  const orders = { closing: Promise.withResolvers<void>(), work: Promise.withResolvers<void>() };
  orders.work.promise.catch(() => {});
  const id = sandboxes.add({ sandbox, reportWhileRunning: createDenialReporter(sandbox, call) });
  const suspension = createSuspension(sandbox);
  const leave = () => {
    sandboxes.delete(id);
    call.sendMessage({ type: 'gone' });
  };
  // Also after a failed clean-up, which must not end the runner.
  sandbox.closed.then(leave, leave);
  listen(call, SandboxOrder, ({ type }) => {
    if (type === 'suspend') suspension.begin();
    else if (type === 'resume') suspension.end();
    else if (type === 'close') orders.closing.resolve();
    else if (type === 'end') orders.work.resolve();
    else orders.work.reject(new Error('the server cancelled the request'));
  });
  const { name, workspacePath, temporaryPath, network, limits } = sandbox;
  const canSuspend = sandbox.suspend !== undefined;
  call.sendMessage({ type: 'open', sandbox: id, name, workspacePath, temporaryPath, network, limits, canSuspend });
  return { closing: orders.closing.promise, work: orders.work.promise };
}

/** Stops the programs of a sandbox at most once at a time, whatever the server orders. */
function createSuspension(sandbox: Sandbox) {
  let resume: (() => void) | undefined;
  return {
    begin: () => {
      resume ??= sandbox.suspend?.();
    },
    end: () => {
      resume?.();
      resume = undefined;
    },
  };
}

/** A sandbox does not report its denials by itself, so that it is asked regularly. */
function createDenialReporter(sandbox: Sandbox, call: ServedCall): () => Disposable {
  let running = 0;
  let timer: NodeJS.Timeout | undefined;
  const reportDenials = () => {
    const denials = sandbox.takeDenials();
    if (denials.length > 0) call.sendMessage({ type: 'denials', denials });
  };
  return () => {
    running += 1;
    timer ??= setInterval(reportDenials, denialsMs).unref();
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
