import { randomBytes } from 'node:crypto';
import type { RunnerHello } from '@croft/protocol';
import { createPeer } from './create-peer.ts';
import type { Link, LinkState } from './link.ts';
import type { Peer } from './peer.ts';

/** A link as the server sees it. */
export interface ServedLink {
  readonly peer: Peer;
  state(): LinkState;
  onState(listener: (state: LinkState) => void): void;
  /** When the last of the runner was heard. */
  lastSeenAt(): Date;
  /** Ends it for good: the runner is told. */
  close(reason: string): void;
}

export interface LinkEntry {
  readonly id: string;
  readonly link: Link;
  readonly served: ServedLink;
  /** Of the connection that it has: they are counted as they come. */
  turn: number;
  seenAt: Date;
}

export interface LinkTableOptions {
  readonly graceMs: number;
  now(): Date;
}

/** One link for each key. */
export function createLinkTable({ graceMs, now }: LinkTableOptions) {
  const entries = new Map<string, LinkEntry>();

  return {
    get: (key: string) => entries.get(key),
    values: () => [...entries.values()],
    /** The link that this hello goes on with. Nothing if there is none, or if one of the two has forgotten too much. */
    resume(key: string, hello: RunnerHello): LinkEntry | undefined {
      const known = entries.get(key);
      return known?.id === hello.link && known?.link.canResume(hello.received) ? known : undefined;
    },
    /** The one before it is lost at once. */
    begin(key: string): LinkEntry {
      entries.get(key)?.served.close('a runner with the same token connected anew');
      const entry = createEntry(() => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      entries.set(key, entry);
      return entry;
    },
  };

  function createEntry(onLost: () => void): LinkEntry {
    const listeners = new Set<(state: LinkState) => void>();
    const { peer, link } = createPeer({
      ...{ isDialler: false, graceMs },
      onState(state) {
        if (state === 'offline') onLost();
        for (const listener of listeners) listener(state);
      },
    });
    const served: ServedLink = {
      peer,
      state: () => link.state,
      onState: (listener) => void listeners.add(listener),
      lastSeenAt: () => entry.seenAt,
      close: (reason) => link.close(reason),
    };
    const entry: LinkEntry = { id: randomBytes(16).toString('hex'), link, served, turn: 0, seenAt: now() };
    return entry;
  }
}
