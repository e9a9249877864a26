import { findRunnerRefusal } from '../../core/accounts/keys/find-runner-refusal.ts';
import type { RunnerToken } from '../../core/accounts/ports/registry.ts';
import { LinkRefusal } from '../../link/accept/link-refusal.ts';
import { createLinkServer } from '../../link/accept/link-server.ts';
import { type Fleet, runnerKey } from './fleet.ts';

export interface RunnerSettings {
  /** Accepts runners of other machines without TLS. */
  readonly allowsInsecure: boolean;
  /** How long the server waits for a runner whose connection was cut. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
}

interface RunnerSocketOptions extends RunnerSettings {
  readonly fleet: Pick<Fleet, 'join' | 'refuseRival' | 'onDrop'>;
  authenticate(token: string): Promise<RunnerToken | undefined>;
  readonly now: () => Date;
}

export type RunnerSocket = ReturnType<typeof createRunnerSocket>;

/** The endpoint that runners connect to. Only the token says which runner it is. */
export function createRunnerSocket(options: RunnerSocketOptions) {
  const { fleet, authenticate, allowsInsecure, graceMs, heartbeatMs, now } = options;
  const server = createLinkServer<RunnerToken>({
    ...{ allowsInsecure, graceMs, heartbeatMs, now },
    async admit({ token, hello }) {
      const who = await authenticate(token);
      const refusal = findRunnerRefusal({ token: who, name: hello.report.name });
      if (refusal || !who) throw new LinkRefusal(refusal?.code ?? 'AUTH_FAILED', refusal?.message ?? '');
      return { who, key: runnerKey(who.accountId, who.name) };
    },
    onRival: (who, { address }) => fleet.refuseRival(who, address),
    onLink: (who, { report, capabilities }, link) =>
      fleet.join(who, report, { id: crypto.randomUUID(), capabilities, ...link }),
  });
  fleet.onDrop(server.drop);
  return server;
}
