import { chmodSync, closeSync, readFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { createFlagWorkspaceForks } from '../../src/app/forks/flag-workspace-forks.ts';
import { createWorkspaceHistories } from '../../src/app/workspaces/workspace-histories.ts';
import type { Forks } from '../../src/core/history/ports/forks.ts';
import type { Workspace } from '../../src/core/workspace/workspace.ts';
import { createWorkspaceSet } from '../../src/core/workspace/workspace-set.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { createFollowedBases } from '../../src/history/forks/followed-bases.ts';
import { createForkDirectories } from '../../src/history/forks/fork-directories.ts';
import { createLayers } from '../../src/history/overlay/layers.ts';
import { makeDirectory } from '../support/harness.ts';
import { unmountBelow } from './layers-fixture.ts';

export const signal = new AbortController().signal;

export interface ServerOptions {
  readonly kinds?: readonly ('overlay' | 'copy')[];
}

/** Opens the parts of a server for one workspace and its forks, without its faces. */
export function startForks(workspace: string, data: string, { kinds }: ServerOptions = {}) {
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  const histories = createWorkspaceHistories({ data, onWarning });
  const handle = openRoot(workspace);
  const layered = {
    data,
    histories,
    layers: createLayers({ parent: `${data}/layers`, kinds }),
    forkDirectories: createForkDirectories({ parent: `${data}/forks`, kinds }),
    followedBases: createFollowedBases(),
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
  const forks = createFlagWorkspaceForks({ layered, set: () => set, open: toWorkspace, isSandboxed: true, onWarning });
  const set = createWorkspaceSet([toWorkspace({ name: 'main', handle, files: {} as never })]);
  forks.reopenEarlier([{ handle }]);
  return {
    ...{ set, warnings, histories, layered },
    of: (name: string): Forks => set.pick(name).forks as Forks,
    historyOf: (name: string) => set.pick(name).history as NonNullable<Workspace['history']>,
    tree: (name: string) => histories.treeOf(handles.get(name) ?? -1),
    /** Path of the files of a fork. */
    pathOf: (name: string) => layered.forkDirectories.list().find(({ about }) => about.name === name)?.target ?? '',
    async stop() {
      await histories.close();
      await forks.close();
      closeSync(handle);
    },
  };
}

export function openForksFixture(tree: Record<string, string | Buffer> = {}, options: ServerOptions = {}) {
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
