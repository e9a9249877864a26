import { AppError } from '@croft/protocol';
import type { Sandbox, SandboxDenial } from '../../core/commands/sandbox.ts';
import type { SandboxRequest } from '../../core/runner-workspaces/runner-workspace.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { openSandbox, SandboxEvent } from '../../link/methods/sandbox.ts';
import type { RpcCall, RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';
import { waitForFirstMessage } from './rpc/wait-for-first-message.ts';
import { startRemoteProgram } from './start-remote-program.ts';

/** Opening and closing the sandbox of a large workspace takes a while, and the connection may be cut meanwhile. */
const openWithinMs = 120_000;
const goneWithinMs = 120_000;
/** Limit of stored denials, as for a sandbox of this machine. */
const maxDenials = 20;

export async function openRemoteSandbox(rpc: RpcClient, handle: string, wanted: SandboxRequest): Promise<Sandbox> {
  return toRemoteSandbox(rpc, rpc.begin(openSandbox, { place: handle, ...wanted }));
}

/** The sandbox that a long call reports. It closes with the call at the latest. */
export async function toRemoteSandbox(rpc: RpcClient, asked: RpcCall<unknown>): Promise<Sandbox> {
  const denials = createDenials();
  const closed = Promise.withResolvers<void>();
  let end: string | undefined;
  const finish = (why: string) => {
    end ??= why;
    closed.resolve();
  };
  asked.answer.then(
    () => finish('the sandbox has ended'),
    (thrown) => finish(`the sandbox has ended: ${errorMessage(thrown)}`),
  );
  const onMore = (news: ReturnType<typeof SandboxEvent.parse>) => {
    if (news.type === 'gone') finish('the sandbox has ended');
    else if (news.type === 'denials') denials.add(news.denials);
    else throw invalidAnswer(openSandbox.name, 'a second sandbox');
  };
  const opened = await waitForFirstMessage(asked, SandboxEvent, { patienceMs: openWithinMs, onMore });
  if (opened.type !== 'open') throw endWith(asked, invalidAnswer(openSandbox.name, 'no sandbox'));
  const { sandbox: id, name, workspacePath, temporaryPath, network, limits, canSuspend } = opened;

  return {
    ...{ name, workspacePath, temporaryPath, network, limits },
    closed: closed.promise,
    start(command) {
      command.signal.throwIfAborted();
      if (end !== undefined) throw new AppError('E_SANDBOX_UNAVAILABLE', end, { details: { provider: 'remote' } });
      return startRemoteProgram(rpc, id, command, denials.add);
    },
    takeDenials: denials.take,
    ...(canSuspend && {
      suspend() {
        asked.sendMessage({ type: 'suspend' });
        return () => asked.sendMessage({ type: 'resume' });
      },
    }),
    async close() {
      if (end !== undefined) return;
      asked.sendMessage({ type: 'close' });
      const timer = setTimeout(() => asked.cancel(new Error('it was not closed in time')), goneWithinMs);
      await closed.promise.finally(() => clearTimeout(timer));
    },
  };
}

function endWith(asked: RpcCall<unknown>, reason: AppError): AppError {
  asked.cancel(reason);
  return reason;
}

/** Collects the denials that the runner reports, so that `takeDenials` needs no call. */
function createDenials() {
  const collected = new Map<string, SandboxDenial>();
  return {
    add(denials: readonly SandboxDenial[]): void {
      for (const denial of denials) {
        const key = JSON.stringify([denial.layer, denial.rule, denial.target]);
        if (collected.size < maxDenials) collected.set(key, denial);
      }
    },
    take(): SandboxDenial[] {
      const all = [...collected.values()];
      collected.clear();
      return all;
    },
  };
}
