import { AppError } from '@croft/protocol';
import { openFilesLazily } from '../../core/files/open-files-lazily.ts';
import { wrapWithHistory } from '../../core/history/checkpoints/wrap-with-history.ts';
import { createLazyHistory } from '../../core/history/lazy-history.ts';
import type { RunnerWorkspace } from '../../core/runner-workspaces/runner-workspace.ts';
import { runnerUnavailable } from '../../core/runners/choose-runner.ts';
import type { OpenedWorkspace, WorkspaceRecord } from '../workspaces/opened-workspaces.ts';
import type { FleetWorkspaces } from './fleet-workspaces.ts';

/** A workspace on a runner, for people: the files that its agents have. This server has no directory of it. */
export function createWorkspaceOnRunner(
  record: WorkspaceRecord,
  fleetWorkspaces: Pick<FleetWorkspaces, 'open'>,
  onWarning: (message: string) => void,
): OpenedWorkspace {
  const { home = '' } = record.config;
  const open = (name = record.id): Promise<RunnerWorkspace> => fleetWorkspaces.open(record, home, name);
  const history = createLazyHistory(async () => {
    const { history: remoteHistory } = await open();
    if (!remoteHistory) throw runnerUnavailable(`the runner ${home} keeps no history of this workspace`);
    return remoteHistory;
  }, onWarning);
  return {
    key: `${home}:${record.id}`,
    named: (name) => ({ root: `/workspaces/${name}`, files: openFilesLazily(async () => (await open(name)).files) }),
    directoryFd: async () => refuse(home),
    mustBeThere() {},
    tree: async () => refuse(home),
    withSearchBox: async (work) => (await open()).withSearchBox(work),
    history,
    async wrapCall(call, work) {
      const { wrapCall = wrapWithHistory(history) } = await open();
      return wrapCall(call, work);
    },
    async watch(onChange, signal) {
      const { watch } = await open();
      if (!watch) throw runnerUnavailable(`the runner ${home} does not report file changes`);
      await watch(onChange, signal);
    },
    // Each use opens it again, and `createRunnerRemoval` removes it.
    async close() {},
  };
}

function refuse(home: string): never {
  throw new AppError(
    'E_SANDBOX_UNAVAILABLE',
    `this server cannot do that: the files of the workspace are on the runner ${home}`,
    {
      hint: `Nothing was done. Use a sandbox of the runner ${home}.`,
    },
  );
}
