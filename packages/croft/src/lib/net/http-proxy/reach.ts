import { isIP, type Socket } from 'node:net';
import { isAddress } from '../host-name.ts';
import type { Judge } from './judge.ts';
import type { ProxyLimits } from './limits.ts';
import { deny, fail, type Refusal } from './refusal.ts';
import type { Resolve } from './resolve.ts';
import type { Slots } from './slots.ts';
import type { Target } from './target.ts';

export type Reached = { readonly socket: Socket } | { readonly refusal: Refusal };

/** Starts a connection. `address` is an address and never a name, so that nothing is looked up a second time. */
export type Dial = (address: string, port: number) => Socket;

export interface ReachOptions {
  readonly judge: Judge;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly limits: ProxyLimits;
  /** For connections under way or open. */
  readonly slots: Slots;
}

const maxAddresses = 8;

/**
 * A connection to an allowed host, made to an address that was judged: the name first, before anything about it
 * leaves this machine, then every address it leads to. Gives up when `signal` aborts.
 */
export async function reach(target: Target, options: ReachOptions, signal: AbortSignal): Promise<Reached> {
  const byName = options.judge.host(target.host, target.port);
  if (!byName.allowed) return { refusal: deny({ ...target, ...byName }) };
  // Requests that come one behind the other on one connection would otherwise be connections without end.
  const release = options.slots.take();
  if (!release)
    return { refusal: fail(503, 'This sandbox has too many connections at once; close some and try again.') };

  const reached = await reachAddress(target, options, signal).catch((thrown) => {
    release();
    throw thrown;
  });
  if ('socket' in reached) reached.socket.once('close', release);
  else release();
  return reached;
}

async function reachAddress(target: Target, options: ReachOptions, signal: AbortSignal): Promise<Reached> {
  const { judge, limits } = options;
  const until = AbortSignal.any([signal, AbortSignal.timeout(limits.connectTimeoutMs)]);
  const addresses = await findAddresses(target, options.resolve, until);
  if (!Array.isArray(addresses)) return { refusal: addresses };
  for (const address of addresses) {
    const verdict = judge.address(address, target.port);
    if (!verdict.allowed) return { refusal: deny({ ...target, ...verdict, reason: toReason(target, verdict.reason) }) };
  }
  return connectFirst(target, addresses.slice(0, maxAddresses), options, until);
}

async function findAddresses({ host }: Target, resolve: Resolve, until: AbortSignal): Promise<string[] | Refusal> {
  if (isAddress(host)) return [host];
  try {
    const addresses = await Promise.race([resolve(host), aborted(until)]);
    if (addresses.length > 0 && addresses.every((address) => isIP(address))) return [...addresses];
  } catch {
    if (until.aborted) return fail(504, `${host} was not found in time.`);
  }
  return fail(502, `${host} has no address.`);
}

/** One after the other, each with its share of what time is left. */
async function connectFirst(
  { host, port }: Target,
  addresses: readonly string[],
  { dial, limits }: ReachOptions,
  until: AbortSignal,
): Promise<Reached> {
  const shareMs = Math.ceil(limits.connectTimeoutMs / addresses.length);
  for (const address of addresses) {
    if (until.aborted) break;
    const socket = dial(address, port);
    if (await isConnected(socket, AbortSignal.any([until, AbortSignal.timeout(shareMs)]))) return { socket };
    socket.destroy();
  }
  if (until.aborted) return { refusal: fail(504, `${host} did not answer on port ${port} in time.`) };
  return { refusal: fail(502, `${host} cannot be reached on port ${port}.`) };
}

function isConnected(socket: Socket, until: AbortSignal): Promise<boolean> {
  return new Promise((settle) => {
    const end = (isReady: boolean) => {
      until.removeEventListener('abort', giveUp);
      settle(isReady);
    };
    const giveUp = () => end(false);
    until.addEventListener('abort', giveUp, { once: true });
    socket.once('connect', () => end(true));
    // Stays for good: whoever uses the socket later hears of its end by `close`.
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
