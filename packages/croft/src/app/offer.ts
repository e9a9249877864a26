import type { HostOptions, SandboxOptions } from '../app.ts';
import type { Mount } from '../core/mount.ts';
import type { Offer, WorkspaceWish } from '../core/runners/offer.ts';
import { createKeyedLock } from '../lib/keyed-lock.ts';
import type { Peer } from '../link/peer.ts';
import { createLinkObjects } from '../providers/index.ts';
import { createKeptWorkspaces, openMounts, type WorkspaceSource } from '../storages/index.ts';
import { createHistories, type Histories } from './histories.ts';
import { createLayered, type Layered, toKeptForks } from './layered.ts';
import { createOfferedBuckets } from './offered-buckets.ts';
import { createOpening } from './offered-opening.ts';
import { createOfferedRemoval } from './offered-removal.ts';
import { openProvider } from './open-provider.ts';
import { createSandboxRoom } from './runners/sandbox-room.ts';
import { createSearches } from './searches.ts';
import { tryOut } from './try-out.ts';

export interface OfferOptions {
  /** Directories of this machine, each by the name that the account has for the workspace. */
  readonly workspaces: readonly WorkspaceSource[];
  /** Where workspaces are made that are none of those. Left out: there are none. */
  readonly root?: string | undefined;
  /** Where histories and layers are kept. */
  readonly data: string;
  /** What of this machine sandboxes get at most, whatever a server asks. */
  readonly sandbox: SandboxOptions;
  readonly host: HostOptions;
  readonly isReadOnly: boolean;
  /** Sandboxes at once, of all links together. Left out: as many as the machine bears. */
  readonly capacity?: number | undefined;
  onWarning(message: string): void;
}

const hourMs = 3_600_000;

/** What a machine offers to a server, with the very parts that a server uses itself. */
export function createOffer(options: OfferOptions) {
  const { workspaces, data, sandbox, isReadOnly, onWarning } = options;
  const histories = createHistories({ data, onWarning });
  const layered = createLayered(data, histories, onWarning);
  const searches = createSearches();
  const room = createSandboxRoom(options.capacity);
  const provider = openProvider(options);
  const [named, made] = [openNamed(options), openMade(options, histories, layered)];
  const lock = createKeyedLock();
  const { open, forget } = createOpening(
    { named, ...made, lock },
    {
      ...{ provider, policy: { ...sandbox, isReadOnly }, readable: sandbox.readable },
      ...{ searches, histories, layered, counted: room.counted },
    },
  );
  const remove = createOfferedRemoval({ named, made, histories, layered, isReadOnly, lock, forget });
  const timer = setInterval(() => made?.kept.closeRemoved(), hourMs).unref();
  return {
    ...{ open: (wish: WorkspaceWish) => open(wish), remove },
    /** The same over a link, by which buckets are reached. */
    on: (peer: Peer): Offer => ({ remove, open: (wish) => open(wish, (id) => createLinkObjects(peer, id)) }),
    names: workspaces.map(({ name, path }) => name ?? path),
    /** Throws `E_SANDBOX_UNAVAILABLE` where the machine cannot do what it offers. */
    tryOut: () => tryOut(provider, data, sandbox.limits),
    /** Sandboxes that are open. */
    load: room.taken,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await searches.close();
      await made?.buckets.close();
      await histories.close();
      made?.kept.close();
    },
  };
}

/** Where workspaces are made, if anywhere. */
function openMade({ root, sandbox, isReadOnly, onWarning }: OfferOptions, histories: Histories, layered: Layered) {
  if (root === undefined) return undefined;
  const access = isReadOnly ? 'read-only' : 'read-write';
  return {
    kept: createKeptWorkspaces(root, toKeptForks(layered), sandbox.caches),
    buckets: createOfferedBuckets({ root, histories, access, onWarning }),
  };
}

/** The model sees them where a sandbox has them; without a fence there is no other name than their own. */
function openNamed({ workspaces, sandbox }: OfferOptions): ReadonlyMap<string, Mount> {
  if (workspaces.length === 0) return new Map();
  const sources = workspaces.map((source) =>
    sandbox.provider === 'none' ? source : { ...source, root: `/workspaces/${source.name}` },
  );
  return new Map(openMounts(sources).map((mount) => [mount.name, mount]));
}
