import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type RunnerHello, runnerLinkVersion } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { createPeer } from '../calls/create-peer.ts';
import type { Peer } from '../calls/peer.ts';
import type { Link } from '../transport/link.ts';
import { type BackoffSettings, createBackoff, defaultBackoff } from './backoff.ts';
import { type ConnectionEnd, connectOnce, type WelcomedConnection } from './connect-once.ts';
import { toLinkUrl } from './link-url.ts';

/** `refused`: the server refuses this runner, and a person has to resolve that. */
type DialState = 'online' | 'reconnecting' | 'refused';

export interface DialOptions {
  /** The address of the server: `https://host`, or `wss:`. */
  readonly url: string;
  /** Called for every connection, so that a rotated token is used at once. */
  token(): string;
  report(): RunnerHello['report'];
  /** A new link was made. All calls on the link before it are lost. */
  onLink(peer: Peer, about: { readonly graceMs: number }): void;
  /** Called when the state changes, with a message for the operator. */
  onState(state: DialState, detail?: string): void;
  /** Allows connections to other machines without TLS. */
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
  readonly backoff?: BackoffSettings;
  readonly capabilities?: readonly string[];
}

interface Current {
  readonly id: string;
  readonly peer: Peer;
  readonly link: Link;
}

/**
 * Connects to the server and reconnects for ever. Resolves when `signal` aborts. Throws a `UsageError` for a wrong
 * address. Throws one too if another machine is connected with the same token and this process never was: it came
 * second, and would only wait for the other machine to fail. A process that was connected before keeps trying.
 */
export async function dialServer(options: DialOptions): Promise<void> {
  const { signal, backoff = defaultBackoff } = options;
  const url = toLinkUrl(options.url, options.isInsecure);
  const pauses = createBackoff(backoff);
  const tell = createStateReporter(options);
  const instance = randomBytes(16).toString('hex');
  let current: Current | undefined;
  const stop = () => current?.peer.close('the runner is stopping');
  signal.addEventListener('abort', stop, { once: true });

  while (!signal.aborted) {
    const begun = Date.now();
    const ending = await connectOnce({ url, token: options.token, signal, hello: toHello(), onWelcome });
    if (ending.isWelcome && Date.now() - begun >= backoff.steadyMs) pauses.reset();
    if (signal.aborted) break;
    if (ending.refusal === 'IN_USE' && !current) throw new UsageError(ending.reason);
    const pauseMs = ending.refusal ? pauses.slow() : pauses.next(isAwaited());
    tell(ending);
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }

  /** Whether the link still waits for its connection, so that its calls can be resumed. */
  function isAwaited(): boolean {
    return current !== undefined && current.link.state !== 'offline';
  }

  function toHello(): RunnerHello {
    const known = isAwaited() ? current : undefined;
    return {
      ...{ type: 'hello', version: runnerLinkVersion, capabilities: [...(options.capabilities ?? [])] },
      ...{ instance, ...(known && { link: known.id }) },
      received: known?.link.received ?? 0,
      report: options.report(),
    };
  }

  function onWelcome({ welcome, wire }: WelcomedConnection): void {
    if (!welcome.resumed || !current) current = begin(welcome.link, welcome.graceMs);
    current.link.attach(wire, welcome.received);
    tell();
  }

  function begin(id: string, graceMs: number): Current {
    current?.link.lose('the server no longer knows this link');
    const made = { id, ...createPeer({ isDialler: true, graceMs }) };
    options.onLink(made.peer, { graceMs });
    return made;
  }
}

/** Reports only changes: a server that is down for a night is one line. */
function createStateReporter({ onState }: DialOptions) {
  let last = '';
  return (ending?: ConnectionEnd): void => {
    const state = ending ? (ending.refusal ? 'refused' : 'reconnecting') : 'online';
    const reported = `${state} ${ending?.reason ?? ''}`;
    if (reported === last) return;
    last = reported;
    if (ending) onState(state, ending.reason);
    else onState(state);
  };
}
