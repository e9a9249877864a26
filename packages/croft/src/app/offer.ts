import { AppError } from '@croft/protocol';
import type { HostOptions, SandboxOptions } from '../app.ts';
import type { Provider, Sandbox } from '../core/commands/sandbox.ts';
import type { SearchBox } from '../core/content/search-box.ts';
import type { Mount } from '../core/mount.ts';
import type { Offer, OfferedWorkspace, WantedSandbox } from '../core/runners/offer.ts';
import { narrowTo, type RunnerPolicy } from '../core/runners/policy.ts';
import { asReadOnly } from '../core/runners/read-only.ts';
import { providers, withCaches } from '../providers/index.ts';
import { createKeptWorkspaces, type KeptWorkspaces, openMounts, type WorkspaceSource } from '../storages/index.ts';
import { createHistories, type Histories } from './histories.ts';
import { createLayered, type Layered, openTransactions, toKeptForks } from './layered.ts';
import { createSandboxRoom } from './runners/sandbox-room.ts';
import { createSearches, type Searches } from './searches.ts';

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

interface Means {
  readonly provider: Provider;
  readonly readable: readonly string[];
  readonly policy: RunnerPolicy;
  readonly searches: Searches;
  readonly histories: Histories;
  readonly layered: Layered;
  /** Opens one, if there is room. */
  counted(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

const namespacePattern = /^fs-[0-9a-f]{40}$/;

/** What a machine offers to a server, with the very parts that a server uses itself. */
export function createOffer(options: OfferOptions) {
  const { workspaces, root, data, sandbox, isReadOnly, onWarning } = options;
  const histories = createHistories({ data, onWarning });
  const layered = createLayered(data, histories, onWarning);
  const searches = createSearches();
  const named = openNamed(options);
  const kept = root === undefined ? undefined : createKeptWorkspaces(root, toKeptForks(layered));
  const room = createSandboxRoom(options.capacity);
  const policy = { ...sandbox, isReadOnly };
  const { readable } = sandbox;
  const { counted } = room;
  const means: Means = { provider: openProvider(options), readable, policy, searches, histories, layered, counted };
  const offer: Offer = {
    async open({ namespace, workspace, name }) {
      const mount = named.get(workspace) ?? openKept(kept, namespace, name);
      const offered = toOffered(mount, means);
      return isReadOnly ? asReadOnly(offered) : offered;
    },
  };
  return {
    ...offer,
    names: workspaces.map(({ name, path }) => name ?? path),
    /** Sandboxes that are open. */
    load: room.taken,
    async [Symbol.asyncDispose]() {
      await searches.close();
      await histories.close();
      kept?.close();
    },
  };
}

function openProvider({ sandbox, host, onWarning }: OfferOptions): Provider {
  const provider = providers[sandbox.provider]({ ...host, image: sandbox.image });
  return sandbox.caches === undefined ? provider : withCaches(provider, { caches: sandbox.caches, onWarning });
}

/** The model sees them where a sandbox has them; without a fence there is no other name than their own. */
function openNamed({ workspaces, sandbox }: OfferOptions): ReadonlyMap<string, Mount> {
  if (workspaces.length === 0) return new Map();
  const sources = workspaces.map((source) =>
    sandbox.provider === 'none' ? source : { ...source, root: `/workspaces/${source.name}` },
  );
  return new Map(openMounts(sources).map((mount) => [mount.name, mount]));
}

function openKept(kept: KeptWorkspaces | undefined, namespace: string, name: string): Mount {
  if (!kept) throw new AppError('E_NOT_FOUND', 'this runner does not have that workspace, and makes no new ones');
  if (!namespacePattern.test(namespace)) throw new AppError('E_INVALID_INPUT', 'that is not the name of a workspace');
  return kept.open(namespace, name);
}

function toOffered(mount: Mount, means: Means): OfferedWorkspace {
  const { handle, files, mustBeThere } = mount;
  const { histories, layered, policy, provider, readable, searches } = means;
  const root = provider.name === 'none' ? mount.directory : mount.root;
  const openSandboxIn = async (directory: number, wanted: WantedSandbox) => {
    mustBeThere();
    const spec = { directory, workspacePath: root, readable, ...narrowTo(policy, wanted) };
    return means.counted(() => provider.open(spec));
  };
  const history = histories.of(handle);
  return {
    ...{ root, access: 'read-write', files },
    withSearchBox: <T>(work: (box: SearchBox) => Promise<T>) =>
      searches.openIn({ directory: handle, workspacePath: root }, mustBeThere)(work),
    openSandbox: (wanted) => openSandboxIn(handle, wanted),
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    ...(history && { history }),
    ...(history && {
      transactions: (wanted) =>
        openTransactions(layered, {
          tree: () => histories.treeOf(handle),
          directory: async () => handle,
          openSandbox: (layer) => openSandboxIn(layer, wanted),
        }),
    }),
  };
}
