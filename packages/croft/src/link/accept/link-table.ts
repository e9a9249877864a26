import { randomBytes } from 'node:crypto';
import type { RunnerHello } from '@croft/protocol';
import { createPeer } from '../calls/create-peer.ts';
import type { Peer } from '../calls/peer.ts';
import type { Link, LinkState } from '../transport/link.ts';

/** A link as the rest of the server uses it. */
export interface ServedLink {
  readonly peer: Peer;
  state(): LinkState;
  onState(listener: (state: LinkState) => void): void;
  /** When anything last arrived from the runner. */
  lastSeenAt(): Date;
  /** Ends the link for good and tells the runner. */
  close(reason: string): void;
}

export interface LinkEntry {
  readonly id: string;
  readonly link: Link;
  readonly served: ServedLink;
  /** The id of the runner's process. `undefined` if the runner did not send one. */
  readonly instance: string | undefined;
  /** The number of the connection that the link uses. Connections are numbered as they arrive. */
  turn: number;
  seenAt: Date;
}

interface LinkTableOptions {
  readonly graceMs: number;
  now(): Date;
}

/** Holds one link for each key. */
export function createLinkTable({ graceMs, now }: LinkTableOptions) {
  const entries = new Map<string, LinkEntry>();

  return {
    get: (key: string) => entries.get(key),
    values: () => [...entries.values()],
    /**
     * The link that this hello resumes. `undefined` if there is none, or if either side no longer has the frames that
     * the other lacks.
     */
    resume(key: string, hello: RunnerHello): LinkEntry | undefined {
      const known = entries.get(key);
      return known?.id === hello.link && known?.link.canResume(hello.received) ? known : undefined;
    },
    /**
     * The link of another machine that is online under this key. The same process is recognised by its link id or its
     * instance id.
     */
    rivalOf(key: string, { link, instance }: RunnerHello): LinkEntry | undefined {
      const known = entries.get(key);
      if (known?.link.state !== 'online' || known.id === link) return undefined;
      return instance !== undefined && known.instance === instance ? undefined : known;
    },
    /** Starts a new link. The earlier link under this key is lost at once. */
    begin(key: string, { instance }: RunnerHello): LinkEntry {
      entries.get(key)?.served.close('a runner with the same token connected anew');
      const entry = createEntry(instance, () => {
        if (entries.get(key) === entry) entries.delete(key);
      });
      entries.set(key, entry);
      return entry;
    },
  };

  function createEntry(instance: string | undefined, onLost: () => void): LinkEntry {
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
    const id = randomBytes(16).toString('hex');
    const entry: LinkEntry = { id, link, served, instance, turn: 0, seenAt: now() };
    return entry;
  }
}
