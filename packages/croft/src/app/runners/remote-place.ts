import { AppError } from '@croft/protocol';
import { keepHistory } from '../../core/history/around.ts';
import { openLazily } from '../../core/history/lazy-history.ts';
import { openFilesLazily } from '../../core/lazy-files.ts';
import type { OfferedWorkspace } from '../../core/runners/offer.ts';
import { unavailable } from '../../core/runners/placement.ts';
import type { Place, WorkspaceRecord } from '../places.ts';
import type { FleetPlaces } from './fleet-places.ts';

/** A workspace on a runner, for people: the same files that its agents have, and never a directory of this server. */
export function createRemotePlace(
  record: WorkspaceRecord,
  places: Pick<FleetPlaces, 'open'>,
  onWarning: (message: string) => void,
): Place {
  const { home = '' } = record.config;
  const open = (name = record.id): Promise<OfferedWorkspace> => places.open(record, home, name);
  const history = openLazily(async () => {
    const { history: kept } = await open();
    if (!kept) throw unavailable(`the runner ${home} keeps no history of this workspace`);
    return kept;
  }, onWarning);
  return {
    key: `${home}:${record.id}`,
    named: (name) => ({ root: `/workspaces/${name}`, files: openFilesLazily(async () => (await open(name)).files) }),
    directory: async () => refuse(home),
    mustBeThere() {},
    tree: async () => refuse(home),
    history,
    async around(call, work) {
      const { around = keepHistory(history) } = await open();
      return around(call, work);
    },
    async watch(onChange, signal) {
      const { watch } = await open();
      if (!watch) throw unavailable(`the runner ${home} cannot tell what changes`);
      await watch(onChange, signal);
    },
    // It is opened anew by whoever asks; `createRemovalThere` takes it away.
    async close() {},
  };
}

function refuse(home: string): never {
  throw new AppError('E_SANDBOX_UNAVAILABLE', `the files of this workspace are on the runner ${home}`);
}
