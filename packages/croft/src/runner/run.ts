import { availableParallelism, loadavg } from 'node:os';
import { runnerForks, runnerRemoves, runnerStores } from '@croft/protocol';
import type { Offer } from '../core/runners/offer.ts';
import type { RunnerReport } from '../core/runners/runner.ts';
import { dialServer } from '../link/dial.ts';
import type { Peer } from '../link/peer.ts';
import { serveOffer } from './serve-offer.ts';

export interface RunOptions {
  readonly url: string;
  token(): string;
  readonly offer: { on(peer: Peer): Offer; load(): number };
  readonly report: RunnerReport;
  readonly isInsecure: boolean;
  /** Aborts when the program is asked to stop. */
  readonly signal: AbortSignal;
  /** Tells the operator. */
  say(message: string): void;
}

const loadEveryMs = 10_000;

/** Connects out, for ever, and offers what this machine has. Resolves when it was asked to stop. */
export async function runRunner({ url, token, offer, report, isInsecure, signal, say }: RunOptions): Promise<void> {
  await dialServer({
    ...{ url, token, isInsecure, signal, report: () => ({ ...report, workspaces: [...report.workspaces] }) },
    capabilities: [runnerStores, runnerRemoves, runnerForks],
    onLink(peer) {
      serveOffer(peer, offer.on(peer));
      tellLoad(peer, offer);
    },
    onState: (state, detail) => say(detail === undefined ? state : `${state}: ${detail}`),
  });
}

/** How much there is to do here, so that the server can choose among machines. */
function tellLoad(peer: Peer, { load }: { load(): number }): void {
  const tell = () =>
    peer
      .call(
        'runner.load',
        { sandboxes: load(), cpu: (loadavg()[0] ?? 0) / availableParallelism() },
        { deadlineMs: 60_000 },
      )
      // The next one is as good.
      .answer.catch(() => {});
  void tell();
  const timer = setInterval(tell, loadEveryMs);
  timer.unref();
  void peer.lost.then(() => clearInterval(timer));
}
