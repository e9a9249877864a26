import { AppError } from '@croft/protocol';
import type { Denial, Sandbox } from '../../core/commands/sandbox.ts';
import type { WantedSandbox } from '../../core/runners/offer.ts';
import { openSandbox, SandboxNews } from '../../link/methods/sandbox.ts';
import type { Asked, Asking } from './asking.ts';
import { firstTold } from './first-told.ts';
import { nonsense } from './nonsense.ts';
import { startProgramIn } from './program.ts';

/** A sandbox of a large workspace takes a while to be there, and to be gone. A cable may be cut meanwhile. */
const openWithinMs = 120_000;
const goneWithinMs = 120_000;
/** As many as a sandbox of this machine keeps. */
const maxDenials = 20;

export async function openRemoteSandbox(asking: Asking, place: string, wanted: WantedSandbox): Promise<Sandbox> {
  return toSandbox(asking, asking.begin(openSandbox, { place, ...wanted }));
}

/** The sandbox that a long call tells of. It is gone with the call, if not before. */
export async function toSandbox(asking: Asking, asked: Asked<unknown>): Promise<Sandbox> {
  const denials = createDenials();
  const closed = Promise.withResolvers<void>();
  let end: string | undefined;
  const finish = (why: string) => {
    end ??= why;
    closed.resolve();
  };
  asked.answer.then(
    () => finish('the sandbox has ended'),
    (thrown) => finish(`the sandbox has ended: ${thrown instanceof Error ? thrown.message : thrown}`),
  );
  const onMore = (news: ReturnType<typeof SandboxNews.parse>) => {
    if (news.type === 'gone') finish('the sandbox has ended');
    else if (news.type === 'denials') denials.add(news.denials);
    else throw nonsense(openSandbox.name, 'a second sandbox');
  };
  const opened = await firstTold(asked, SandboxNews, { patienceMs: openWithinMs, onMore });
  if (opened.type !== 'open') throw endWith(asked, nonsense(openSandbox.name, 'no sandbox'));
  const { sandbox: id, name, workspacePath, network, limits } = opened;

  return {
    ...{ name, workspacePath, network, limits },
    closed: closed.promise,
    start(command) {
      command.signal.throwIfAborted();
      if (end !== undefined) throw new AppError('E_SANDBOX_UNAVAILABLE', end, { details: { provider: 'remote' } });
      return startProgramIn(asking, id, command, denials.add);
    },
    takeDenials: denials.take,
    async close() {
      if (end !== undefined) return;
      asked.tell({ type: 'close' });
      const timer = setTimeout(() => asked.takeBack(new Error('it was not closed in time')), goneWithinMs);
      await closed.promise.finally(() => clearTimeout(timer));
    },
  };
}

function endWith(asked: Asked<unknown>, reason: AppError): AppError {
  asked.takeBack(reason);
  return reason;
}

/** Told by the runner, so that whoever asks has them at once. */
function createDenials() {
  const kept = new Map<string, Denial>();
  return {
    add(denials: readonly Denial[]): void {
      for (const denial of denials) {
        const key = JSON.stringify([denial.layer, denial.rule, denial.target]);
        if (kept.size < maxDenials) kept.set(key, denial);
      }
    },
    take(): Denial[] {
      const all = [...kept.values()];
      kept.clear();
      return all;
    },
  };
}
