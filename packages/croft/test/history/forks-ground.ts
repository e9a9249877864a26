import { chmodSync, closeSync, readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createFlagForks } from '../../src/app/flag-forks.ts';
import { createHistories } from '../../src/app/histories.ts';
import type { Forks } from '../../src/core/history/forks.ts';
import type { Workspace } from '../../src/core/workspace.ts';
import { createWorkspaceSet } from '../../src/core/workspace-set.ts';
import { openRoot } from '../../src/disk/handles.ts';
import { createFollowedBases } from '../../src/history/followed-bases.ts';
import { createForkPlaces } from '../../src/history/fork-places.ts';
import { createLayers } from '../../src/history/layers.ts';
import { makeDirectory } from '../harness.ts';
import { unmountBelow } from './layers-ground.ts';

export const signal = new AbortController().signal;

export interface ServerOptions {
  readonly kinds?: readonly ('overlay' | 'copy')[];
}

/** What a server has of one workspace and its forks, without its faces. */
export function startForks(workspace: string, data: string, { kinds }: ServerOptions = {}) {
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const histories = createHistories({ data, onWarning });
  const handle = openRoot(workspace);
  const layered = {
    data,
    histories,
    layers: createLayers({ parent: `${data}/layers`, kinds }),
    places: createForkPlaces({ parent: `${data}/forks`, kinds }),
    followed: createFollowedBases(),
    swept: Promise.resolve(),
  };
  const handles = new Map<string, number>();
  const toWorkspace = ({
    name,
    handle: its,
    ...mount
  }: {
    name: string;
    handle: number;
    files: Workspace['files'];
  }) => {
    handles.set(name, its);
    const history = histories.of(its);
    if (!history) throw new Error('no history');
    return {
      ...mount,
      id: name,
      name,
      history,
      forks: forks.of({ name, handle: its }, history),
    } as unknown as Workspace;
  };
  const forks = createFlagForks({ layered, set: () => set, open: toWorkspace, isFenced: true, onWarning });
  const set = createWorkspaceSet([toWorkspace({ name: 'main', handle, files: {} as never })]);
  forks.bringBack([{ handle }]);
  return {
    ...{ set, warnings, histories, layered },
    of: (name: string): Forks => set.pick(name).forks as Forks,
    historyOf: (name: string) => set.pick(name).history as NonNullable<Workspace['history']>,
    tree: (name: string) => histories.treeOf(handles.get(name) ?? -1),
    /** Where the files of a fork are. */
    pathOf: (name: string) => layered.places.list().find(({ about }) => about.name === name)?.target ?? '',
    async stop() {
      await histories.close();
      await forks.close();
      closeSync(handle);
    },
  };
}

export function forksGround(tree: Record<string, string | Buffer> = {}, options: ServerOptions = {}) {
  const workspace = makeDirectory(tree);
  const data = makeDirectory();
  chmodSync(data.path, 0o711);
  onTestFinished(() => workspace[Symbol.dispose]());
  onTestFinished(() => data[Symbol.dispose]());
  onTestFinished(() => unmountBelow(data.path));
  const start = () => {
    const server = startForks(workspace.path, data.path, options);
    onTestFinished(() => server.stop().catch(() => {}));
    return server;
  };
  const server = start();
  const fork = (name: string, snapshot?: string) => server.of('main').fork({ name, snapshot, session: 's', signal });
  return { workspace, data, server, start, fork };
}

export function text(path: string): string {
  return readFileSync(path, 'utf8');
}
