import { join } from 'node:path';
import { createNetworkJudge } from '../core/commands/network-judge.ts';
import type { NetworkPolicy } from '../core/commands/network-policy.ts';
import type { SandboxDenial } from '../core/commands/sandbox.ts';
import {
  allowGroupToTraverse,
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../lib/files/temporary-directory.ts';
import { proxyEnvironment } from '../lib/net/http-proxy/proxy-environment.ts';
import { startProxy } from '../lib/net/http-proxy/start-proxy.ts';
import { listOwnAddresses } from '../lib/net/special-ip-ranges.ts';

/** Address at which the init listens in the sandbox: `RELAY_PORT` of `native/relay/relay.h`. */
/** Where programs of a sandbox reach the proxy: the init listens there. */
export const proxyPort = 3128;
const proxyUrl = `http://127.0.0.1:${proxyPort}`;

/** The only network access of a restricted sandbox: its own proxy, outside of it. */
export interface Egress extends AsyncDisposable {
  /** Path of the proxy's socket, to be mounted in the sandbox. */
  readonly socketPath: string;
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Removes the socket from the host's filesystem. Called once it is mounted, because nothing needs the name then and
   * nothing can be left behind.
   */
  unlinkSocket(): void;
}

interface EgressOptions {
  readonly policy: NetworkPolicy;
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  onDenied(denial: SandboxDenial): void;
}

export async function openEgress({ policy, owner, onDenied }: EgressOptions): Promise<Egress | undefined> {
  if (policy.mode === 'deny-all' || policy.mode === 'allow-all') return undefined;
  const directory = makeTemporaryDirectory('proxy');
  const unlinkSocket = () => removeTemporaryDirectory(directory);
  try {
    if (owner) allowGroupToTraverse(directory, owner.gid);
    const socketPath = join(directory, 'proxy.sock');
    const proxy = await startProxy({
      socketPath,
      owner,
      judge: createNetworkJudge({ policy, hostAddresses: listOwnAddresses }),
      onDenied: ({ host, port, rule, reason }) =>
        onDenied({
          layer: 'network',
          rule,
          target: host === '' ? 'an unreadable request' : `${host}:${port}`,
          next: `${reason}${toFlag(rule, host, port)}`,
        }),
    });
    return {
      socketPath,
      environment: proxyEnvironment(proxyUrl),
      unlinkSocket,
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        unlinkSocket();
      },
    };
  } catch (thrown) {
    unlinkSocket();
    throw thrown;
  }
}

/** Returns the flag with which an operator allows this destination for a workspace given by flags. */
function toFlag(rule: string, host: string, port: number): string {
  const isUsual = port === 80 || port === 443;
  if (rule === 'domains' || rule === 'ports')
    return ` On the command line: --allow-domain ${host}${isUsual ? '' : `:${port}`}.`;
  const bits = host.includes(':') ? 128 : 32;
  return rule === 'cidrs' ? ` On the command line: --allow-cidr ${host}/${bits}${isUsual ? '' : `:${port}`}.` : '';
}
