import { availableParallelism, loadavg } from 'node:os';
import { runnerForks, runnerRemoves, runnerStores } from '@croft/protocol';
import type { RunnerWorkspaces } from '../core/runner-workspaces/runner-workspace.ts';
import type { RunnerReport } from '../core/runners/runner.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import type { Peer } from '../link/calls/peer.ts';
import { dialServer } from '../link/dial/dial-server.ts';
import { notifyOperator } from '../link/methods/runner.ts';
import { serveMethod } from './serve-helpers.ts';
import { serveWorkspaces } from './serve-workspaces.ts';

interface RunRunnerOptions {
  readonly url: string;
  token(): string;
  readonly workspaces: { on(peer: Peer): RunnerWorkspaces; load(): number };
  readonly report: RunnerReport;
  readonly isInsecure: boolean;
  /** Aborts when the program has to stop. */
  readonly signal: AbortSignal;
  /** Prints a line for the operator. */
  say(message: string): void;
}

const loadEveryMs = 10_000;

/** Connects to the server, for ever, and serves the workspaces of this machine. Resolves when `signal` aborts. */
export async function runRunner({
  url,
  token,
  workspaces,
  report,
  isInsecure,
  signal,
  say,
}: RunRunnerOptions): Promise<void> {
  await dialServer({
    ...{ url, token, isInsecure, signal, report: () => ({ ...report, workspaces: [...report.workspaces] }) },
    capabilities: [runnerStores, runnerRemoves, runnerForks],
    onLink(peer) {
      serveWorkspaces(peer, workspaces.on(peer));
      peer.serve(serveMethod(notifyOperator, async ({ message }) => showNotice(message, say)));
      reportLoad(peer, workspaces);
    },
    onState: (state, detail) => say(detail === undefined ? state : `${state}: ${detail}`),
  });
}

/**
 * The server's message is printed on a terminal: as one line, and without control characters, which a terminal would
 * obey.
 */
function showNotice(message: string, say: RunRunnerOptions['say']): Record<string, never> {
  say(`the server says: ${stripControlSequences(message).replace(/\s+/g, ' ')}`);
  return {};
}

/** Reports the load of this machine regularly, so that the server can choose among machines. */
function reportLoad(peer: Peer, { load }: { load(): number }): void {
  const tell = () =>
    peer
      .call(
        'runner.load',
        { sandboxes: load(), cpu: (loadavg()[0] ?? 0) / availableParallelism() },
        { deadlineMs: 60_000 },
      )
      // A lost report does no harm: the next one follows soon.
      .answer.catch(() => {});
  void tell();
  const timer = setInterval(tell, loadEveryMs);
  timer.unref();
  void peer.lost.then(() => clearInterval(timer));
}
