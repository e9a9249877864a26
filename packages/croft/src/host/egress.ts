import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJudge } from '../core/commands/network-judge.ts';
import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { Denial } from '../core/commands/sandbox.ts';
import { proxyEnvironment } from '../lib/net/http-proxy/environment.ts';
import { startProxy } from '../lib/net/http-proxy/start-proxy.ts';
import { listOwnAddresses } from '../lib/net/ip-ranges.ts';

/** Where the init listens inside: `RELAY_PORT` of `native/relay.h`. */
const proxyUrl = 'http://127.0.0.1:3128';

/** The only way out of a sandbox: a proxy of its own, outside. */
export interface Egress extends AsyncDisposable {
  /** To be mounted. */
  readonly socketPath: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Once it is mounted nobody needs its name any more, and what has none cannot be left behind. */
  forgetName(): Promise<void>;
}

interface EgressOptions {
  readonly policy: NetworkPolicy;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  onDenied(denial: Denial): void;
}

export async function openEgress({ policy, owner, onDenied }: EgressOptions): Promise<Egress | undefined> {
  if (policy.mode === 'deny-all' || policy.mode === 'allow-all') return undefined;
  const directory = await mkdtemp(join(tmpdir(), `croft-proxy-${process.pid}-`));
  const forgetName = () => rm(directory, { recursive: true, force: true });
  try {
    if (owner) await chown(directory, owner.uid, owner.gid);
    const socketPath = join(directory, 'proxy.sock');
    const proxy = await startProxy({
      socketPath,
      owner,
      judge: createJudge({ policy, hostAddresses: listOwnAddresses }),
      onDenied: ({ host, port, rule, reason }) =>
        onDenied({
          layer: 'network',
          rule,
          target: host === '' ? 'an unreadable request' : `${host}:${port}`,
          next: reason,
        }),
    });
    return {
      socketPath,
      environment: proxyEnvironment(proxyUrl),
      forgetName,
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        await forgetName();
      },
    };
  } catch (thrown) {
    await forgetName();
    throw thrown;
  }
}
