import type { Provider, Sandbox } from '../core/commands/sandbox.ts';
import type { SearchBox } from '../core/content/search-box.ts';
import { keepHistory } from '../core/history/around.ts';
import type { Mount } from '../core/mount.ts';
import type { OfferedWorkspace, WantedSandbox } from '../core/runners/offer.ts';
import { narrowTo, type RunnerPolicy } from '../core/runners/policy.ts';
import type { WorkspaceQuota } from '../core/storage.ts';
import type { Histories } from './histories.ts';
import { type Layered, openTransactions } from './layered.ts';
import { holdToQuota } from './local-quota.ts';
import type { Place } from './places.ts';
import type { Searches } from './searches.ts';

/** What a machine makes its workspaces with. */
export interface OfferMeans {
  readonly provider: Provider;
  readonly readable: readonly string[];
  readonly policy: RunnerPolicy;
  readonly searches: Searches;
  readonly histories: Histories;
  readonly layered: Layered;
  /** Opens one, if there is room. */
  counted(open: () => Promise<Sandbox>): Promise<Sandbox>;
}

/** Where a workspace of this machine is, whatever keeps it. */
export interface OfferedPlace
  extends Pick<Place, 'directory' | 'mustBeThere' | 'tree' | 'history' | 'watch'>,
    Pick<Mount, 'root' | 'files'> {
  /** Left out: there is nothing to do but to remember. */
  readonly around?: Place['around'] | undefined;
}

/** A directory of this machine, used in place. */
export function toLocalPlace(mount: Mount, quota: WorkspaceQuota | undefined, histories: Histories): OfferedPlace {
  const { handle, files, root, mustBeThere } = mount;
  const history = histories.of(handle);
  const tree = () => histories.treeOf(handle);
  const within = quota && holdToQuota({ mount, quota, tree });
  return {
    ...{ root, files, mustBeThere, tree, history, directory: async () => handle },
    watch: (onChange, signal) => histories.watch(handle, onChange, signal),
    around: within && (history ? keepHistory(history, within) : within),
  };
}

export function toOffered(place: OfferedPlace, means: OfferMeans): OfferedWorkspace {
  const { root, files, history, around, watch, directory, mustBeThere, tree } = place;
  const { layered, policy, provider, readable, searches } = means;
  const openSandboxIn = async (handle: number, wanted: WantedSandbox) => {
    mustBeThere();
    const spec = { directory: handle, workspacePath: root, readable, ...narrowTo(policy, wanted) };
    return means.counted(() => provider.open(spec));
  };
  return {
    ...{ root, access: 'read-write', files, watch },
    withSearchBox: async <T>(work: (box: SearchBox) => Promise<T>) =>
      searches.openIn({ directory: await directory(), workspacePath: root }, mustBeThere)(work),
    openSandbox: async (wanted) => openSandboxIn(await directory(), wanted),
    ...(around && { around }),
    ...(history && { history }),
    ...(history && {
      transactions: (wanted) =>
        openTransactions(layered, { tree, directory, openSandbox: (layer) => openSandboxIn(layer, wanted) }),
    }),
  };
}
