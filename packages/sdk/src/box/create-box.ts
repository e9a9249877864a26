import { z } from 'zod';
import type { Client } from '../client/create-client.ts';
import { CroftError } from '../errors/croft-error.ts';
import type { Box } from './box.ts';
import { createBoxFiles } from './box-files.ts';
import { exec } from './exec.ts';
import type { BoxAgent } from './find-records.ts';
import { runTests } from './run-tests.ts';
import { attach, startInBackground } from './start-in-background.ts';
import { openTerminal } from './terminal.ts';
import { type ApprovalPolicy, createToolCaller, type ToolCaller } from './tool-caller.ts';
import { transact } from './transaction.ts';

export interface BoxOptions {
  readonly client: Client;
  /** The address for terminals. */
  baseUrl(): Promise<string>;
  readonly name: string;
  readonly workspaceId: string;
  readonly agent: BoxAgent;
  readonly session: string;
  /** The session ends with the box. */
  readonly isOwnSession: boolean;
  readonly approvals: ApprovalPolicy;
  openFork(workspaceId: string): Promise<Box>;
}

const Anything = z.record(z.string(), z.unknown());
const Workspaces = z.object({ workspaces: z.array(z.object({ name: z.string(), root: z.string() })) });

export function createBox(options: BoxOptions): Box {
  const { client, name, workspaceId, session } = options;
  const caller = createToolCaller({ ...options, ...options.agent });
  const close = () => endSession(options);

  return {
    ...{ name, workspaceId, session, agentId: options.agent.agentId },
    ...{ client, agent: caller.agent },
    files: createBoxFiles(client, caller, workspaceId),
    ...toCommands(caller),
    tests: (given) => runTests(caller, given),
    call: (tool, input = {}, given) => caller.call(tool, input, Anything, given),
    ask: (tool, input = {}) => caller.agent.ask(tool, { workspace: caller.workspace, ...input }),
    fence: () => caller.agent.fence(),
    root: () => findRoot(caller),
    ...toHistory(options),
    async terminal(given) {
      const { sandboxId } = options.agent;
      if (sandboxId === undefined) throw new CroftError('E_READ_ONLY', `${name} has no sandbox here`);
      return openTerminal({ client, baseUrl: await options.baseUrl(), sandboxId, workspaceId }, given);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function findRoot(caller: ToolCaller): Promise<string> {
  const { workspaces } = await caller.call('workspaces', {}, Workspaces);
  const found = workspaces.find(({ name }) => name === caller.workspace);
  if (!found) throw new CroftError('E_UNKNOWN_WORKSPACE', `the agent has no workspace ${caller.workspace} any more`);
  return found.root;
}

type Commands = Pick<Box, 'exec' | 'attach' | 'transaction'>;

function toCommands(caller: ToolCaller): Commands {
  const run: (...given: Parameters<Box['exec']>) => ReturnType<Box['exec']> = (line, given) =>
    given && 'background' in given ? startInBackground(caller, line, given) : exec(caller, line, given);
  return {
    // Its two forms differ by an option alone.
    exec: run as Box['exec'],
    attach: (id, given) => attach(caller, id, given),
    transaction: (command, given) => transact(caller, command, given),
  };
}

type History = Pick<Box, 'snapshot' | 'snapshots' | 'restore' | 'diff' | 'undo' | 'fork' | 'merge'>;

function toHistory({ client, workspaceId, openFork }: BoxOptions): History {
  const [history, forks] = [client.history(workspaceId), client.forks(workspaceId)];
  return {
    snapshot: async (name, { description, includeIgnored } = {}) => {
      const body = {
        name,
        ...(description !== undefined && { description }),
        ...(includeIgnored && { includeIgnored }),
      };
      return (await history.snapshots.create(body)).snapshot;
    },
    snapshots: () => history.snapshots.list(),
    restore: (name) => history.snapshots.restore(name),
    async diff({ since } = {}) {
      if (since !== undefined) return history.snapshots.diff(since);
      const [last] = await history.checkpoints(1);
      return last ? (await history.diffOf(last.checkpointId)).changes : [];
    },
    undo: (given) => history.undo(given),
    async fork(name, { snapshot } = {}) {
      const made = await forks.create({ name, ...(snapshot !== undefined && { snapshot }) });
      return openFork(made.workspaceId);
    },
    merge: ({ name }, onConflict = 'refuse') => forks.merge({ fork: name, onConflict }),
  };
}

async function endSession({ client, agent: { agentId }, session, isOwnSession }: BoxOptions): Promise<void> {
  if (!isOwnSession) return;
  await client
    .agent(agentId)
    .sessions.end(session)
    .catch((thrown) => {
      // A session without calls was never stored.
      if (!(CroftError.is(thrown) && thrown.code === 'E_NOT_FOUND')) throw thrown;
    });
}
