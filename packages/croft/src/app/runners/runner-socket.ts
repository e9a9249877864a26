import type { RunnerToken } from '../../core/accounts/registry.ts';
import { findRefusal } from '../../core/runners/admission.ts';
import { LinkRefusal } from '../../link/refusal.ts';
import { createLinkServer } from '../../link/server.ts';
import { type Fleet, keyOf } from './fleet.ts';

export interface RunnerSettings {
  /** Takes runners of other machines without TLS. */
  readonly allowsInsecure: boolean;
  /** For so long one that is cut off is waited for. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
}

export interface RunnerSocketOptions extends RunnerSettings {
  readonly fleet: Pick<Fleet, 'join' | 'onDrop'>;
  authenticate(token: string): Promise<RunnerToken | undefined>;
  readonly now: () => Date;
}

export type RunnerSocket = ReturnType<typeof createRunnerSocket>;

/** Where runners connect to: who they are is in their token, and nowhere else. */
export function createRunnerSocket(options: RunnerSocketOptions) {
  const { fleet, authenticate, allowsInsecure, graceMs, heartbeatMs, now } = options;
  const server = createLinkServer<RunnerToken>({
    ...{ allowsInsecure, graceMs, heartbeatMs, now },
    async admit({ token, hello }) {
      const who = await authenticate(token);
      const refusal = findRefusal({ token: who, name: hello.report.name });
      if (refusal || !who) throw new LinkRefusal(refusal?.code ?? 'AUTH_FAILED', refusal?.message ?? '');
      return { who, key: keyOf(who.accountId, who.name) };
    },
    onLink: (who, { report, capabilities }, link) =>
      fleet.join(who, report, { id: crypto.randomUUID(), capabilities, ...link }),
  });
  fleet.onDrop(server.drop);
  return server;
}
