import { isIP, type Socket } from 'node:net';
import { isAddress } from '../host-name.ts';
import type { ConnectionJudge } from './connection-judge.ts';
import type { ConnectionSlots } from './connection-slots.ts';
import type { ProxyLimits } from './proxy-limits.ts';
import { type Refusal, toNetworkFailure, toPolicyRefusal } from './proxy-refusal.ts';
import type { Target } from './proxy-target.ts';
import type { ResolveHost } from './resolve-host.ts';

type ConnectResult = { readonly socket: Socket } | { readonly refusal: Refusal };

/**
 * Starts a connection. `address` is an IP address and never a name, so that no second name lookup can give another
 * answer.
 */
export type Dial = (address: string, port: number) => Socket;

export interface ConnectToTargetOptions {
  readonly judge: ConnectionJudge;
  readonly resolve: ResolveHost;
  readonly dial: Dial;
  readonly limits: ProxyLimits;
  /** Counts connections that are open or being opened. */
  readonly slots: ConnectionSlots;
}

const maxAddresses = 8;

/**
 * Connects to an allowed host at an address that was judged. The name is judged before anything about it leaves this
 * machine, then every address that it resolves to. Stops when `signal` aborts.
 */
export async function connectToTarget(
  target: Target,
  options: ConnectToTargetOptions,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const byName = options.judge.host(target.host, target.port);
  if (!byName.allowed) return { refusal: toPolicyRefusal({ ...target, ...byName }) };
  // Pipelined requests on one client connection could otherwise open any number of connections.
  const release = options.slots.take();
  if (!release)
    return {
      refusal: toNetworkFailure(503, 'This sandbox has too many connections at once; close some and try again.'),
    };

  const reached = await connectToAddress(target, options, signal).catch((thrown) => {
    release();
    throw thrown;
  });
  if ('socket' in reached) reached.socket.once('close', release);
  else release();
  return reached;
}

async function connectToAddress(
  target: Target,
  options: ConnectToTargetOptions,
  signal: AbortSignal,
): Promise<ConnectResult> {
  const { judge, limits } = options;
  const until = AbortSignal.any([signal, AbortSignal.timeout(limits.connectTimeoutMs)]);
  const addresses = await findAddresses(target, options.resolve, until);
  if (!Array.isArray(addresses)) return { refusal: addresses };
  for (const address of addresses) {
    const verdict = judge.address(address, target.port);
    if (!verdict.allowed)
      return { refusal: toPolicyRefusal({ ...target, ...verdict, reason: toReason(target, verdict.reason) }) };
  }
  return connectFirst(target, addresses.slice(0, maxAddresses), options, until);
}

async function findAddresses({ host }: Target, resolve: ResolveHost, until: AbortSignal): Promise<string[] | Refusal> {
  if (isAddress(host)) return [host];
  try {
    const addresses = await Promise.race([resolve(host), aborted(until)]);
    if (addresses.length > 0 && addresses.every((address) => isIP(address))) return [...addresses];
  } catch {
    if (until.aborted) return toNetworkFailure(504, `${host} was not found in time.`);
  }
  return toNetworkFailure(502, `${host} has no address.`);
}

/** Tries the addresses one after the other, each with its share of the time. */
async function connectFirst(
  { host, port }: Target,
  addresses: readonly string[],
  { dial, limits }: ConnectToTargetOptions,
  until: AbortSignal,
): Promise<ConnectResult> {
  const shareMs = Math.ceil(limits.connectTimeoutMs / addresses.length);
  for (const address of addresses) {
    if (until.aborted) break;
    const socket = dial(address, port);
    if (await isConnected(socket, AbortSignal.any([until, AbortSignal.timeout(shareMs)]))) return { socket };
    socket.destroy();
  }
  if (until.aborted) return { refusal: toNetworkFailure(504, `${host} did not answer on port ${port} in time.`) };
  return { refusal: toNetworkFailure(502, `${host} cannot be reached on port ${port}.`) };
}

function isConnected(socket: Socket, until: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isReady: boolean) => {
      until.removeEventListener('abort', giveUp);
      resolve(isReady);
    };
    const giveUp = () => end(false);
    until.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => end(true));
    // The error listener stays: later users of the socket learn of its end by `close`.
    socket.on('error', giveUp);
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

function toReason({ host }: Target, reason: string): string {
  return isAddress(host) ? reason : `${host} leads to ${reason}`;
}
