import { setTimeout as pause } from 'node:timers/promises';
import { type RunnerHello, runnerLinkVersion } from '@croft/protocol';
import { type Backoff, createPauses, defaultBackoff } from './backoff.ts';
import { createPeer } from './create-peer.ts';
import { connect, type Ending, type Welcomed } from './dial-connection.ts';
import { toLinkUrl } from './dial-url.ts';
import type { Link } from './link.ts';
import type { Peer } from './peer.ts';

/** `refused`: the server does not want it, and a person has to do something about that. */
export type DialState = 'online' | 'reconnecting' | 'refused';

export interface DialOptions {
  /** Of the server: `https://host`, or `wss:`. */
  readonly url: string;
  /** Asked each time, so that one which was rotated is used from then on. */
  token(): string;
  report(): RunnerHello['report'];
  /** A new link. What was under way on the one before it is lost. */
  onLink(peer: Peer, about: { readonly graceMs: number }): void;
  /** Told when it changes, in words for the operator. */
  onState(state: DialState, detail?: string): void;
  /** Speaks to other machines without TLS. */
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
  readonly backoff?: Backoff;
  readonly capabilities?: readonly string[];
}

interface Current {
  readonly id: string;
  readonly peer: Peer;
  readonly link: Link;
}

/** Connects, and connects again, for ever. Resolves when `signal` aborts. Throws a `UsageError` for a wrong address. */
export async function dialServer(options: DialOptions): Promise<void> {
  const { signal, backoff = defaultBackoff } = options;
  const url = toLinkUrl(options.url, options.isInsecure);
  const pauses = createPauses(backoff);
  const tell = createTeller(options);
  let current: Current | undefined;
  const stop = () => current?.peer.close('the runner is stopping');
  signal.addEventListener('abort', stop, { once: true });

  while (!signal.aborted) {
    const begun = Date.now();
    const ending = await connect({ url, token: options.token, signal, hello: toHello(), onWelcome });
    if (ending.isWelcome && Date.now() - begun >= backoff.steadyMs) pauses.reset();
    if (signal.aborted) break;
    const pauseMs = ending.refusal ? pauses.slow() : pauses.next(isAwaited());
    tell(ending);
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }

  /** Whether something on the link is waited for, by those who will not wait for ever. */
  function isAwaited(): boolean {
    return current !== undefined && current.link.state !== 'offline';
  }

  function toHello(): RunnerHello {
    const known = isAwaited() ? current : undefined;
    return {
      ...{ type: 'hello', version: runnerLinkVersion, capabilities: [...(options.capabilities ?? [])] },
      ...(known && { link: known.id }),
      received: known?.link.received ?? 0,
      report: options.report(),
    };
  }

  function onWelcome({ welcome, wire }: Welcomed): void {
    if (!welcome.resumed || !current) current = begin(welcome.link, welcome.graceMs);
    current.link.attach(wire, welcome.received);
    tell();
  }

  function begin(id: string, graceMs: number): Current {
    current?.link.lose('the server does not know it any more');
    const made = { id, ...createPeer({ isDialler: true, graceMs }) };
    options.onLink(made.peer, { graceMs });
    return made;
  }
}

/** The same again is not told again: a server that is down for a night is one line. */
function createTeller({ onState }: DialOptions) {
  let last = '';
  return (ending?: Ending): void => {
    const state = ending ? (ending.refusal ? 'refused' : 'reconnecting') : 'online';
    const told = `${state} ${ending?.reason ?? ''}`;
    if (told === last) return;
    last = told;
    if (ending) onState(state, ending.reason);
    else onState(state);
  };
}
