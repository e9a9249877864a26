import { CroftError } from '../errors/croft-error.ts';
import { type FakeCommands, writeFiles } from './fake-commands.ts';
import { applyChanges, type FakeShell, type FakeState, type FakeWorkspace, mustFind } from './fake-state.ts';
import { compareTrees, type MutableTree, renderDiff, reportChanges } from './fake-tree.ts';

export interface FakeRun {
  /** As the agent names the workspace. */
  readonly name: string;
  readonly state: FakeState;
  readonly commands: FakeCommands;
  readonly workspace: FakeWorkspace;
  readonly session: string;
  readonly signal: AbortSignal;
}

interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
}

/** Runs to the end of the command, of its time, or of the call. */
async function runLine(
  { state, commands, signal }: FakeRun,
  line: string,
  tree: MutableTree,
  timeoutMs: number,
): Promise<Ran> {
  const does = await commands.answerTo(line, tree);
  const { stdout = '', stderr = '', exitCode = 0, takesMs = 0 } = does;
  const isInTime = takesMs <= timeoutMs;
  if (takesMs > 0) await state.clock.wait(Math.min(takesMs, timeoutMs), signal);
  signal.throwIfAborted();
  if (!isInTime) return { stdout, stderr, exitCode: 124, signal: null, timedOut: true };
  writeFiles(tree, does);
  return { stdout, stderr, exitCode, signal: null, timedOut: false };
}

const common = { durationMs: 0, truncated: false, denials: [] };

export async function runProgram(run: FakeRun, { cmd, args, timeout_ms }: ProgramInput): Promise<object> {
  const line = cmd === 'bash' && args[0] === '-c' ? (args[1] ?? '') : [cmd, ...args].join(' ');
  return { ...(await runLine(run, line, run.workspace.tree, timeout_ms)), ...common };
}

interface ProgramInput {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly timeout_ms: number;
}

interface BashInput {
  readonly command: string;
  readonly timeout: number;
  readonly run_in_background: boolean;
  readonly transaction: boolean;
}

export async function runBash(run: FakeRun, input: BashInput): Promise<object> {
  if (input.run_in_background) return startShell(run, input.command);
  if (input.transaction) return runTransaction(run, input);
  return { ...toMerged(await runLine(run, input.command, run.workspace.tree, input.timeout * 1000)), ...common };
}

function toMerged({ stdout, stderr, ...ended }: Ran) {
  return { ...ended, output: stdout + stderr };
}

async function startShell(run: FakeRun, command: string): Promise<object> {
  const { state, session, workspace, commands } = run;
  const stop = new AbortController();
  const shell: FakeShell = {
    id: state.newId('shell'),
    session,
    workspace: workspace.record.name,
    command,
    stop,
    output: '',
  };
  state.shells.set(shell.id, shell);
  const does = await commands.answerTo(command, workspace.tree);
  const { stdout = '', stderr = '', exitCode = 0, takesMs = 0 } = does;
  shell.output = stdout + stderr;
  const end = () => {
    writeFiles(workspace.tree, does);
    shell.exit = { exitCode, signal: null };
  };
  if (takesMs === 0) end();
  else void state.clock.wait(takesMs, stop.signal).then((hasPassed) => hasPassed && end());
  return { output: '', exitCode: null, signal: null, timedOut: false, shell_id: shell.id, ...common };
}

async function runTransaction(run: FakeRun, { command, timeout }: BashInput): Promise<object> {
  const { state, workspace } = run;
  const copy = new Map(workspace.tree);
  const ran = await runLine(run, command, copy, timeout * 1000);
  const changes = compareTrees(workspace.tree, copy);
  const id = state.newId('tx');
  state.transactions.set(id, { id, workspace, changes });
  const rows = (paths: readonly string[]) => paths.map((path) => ({ path, size: copy.get(path)?.length ?? 0 }));
  const { added, changed, removed } = reportChanges(changes);
  const lists = { added: rows(added), modified: rows(changed), deleted: rows(removed) };
  const size = { paths: changes.length, bytes: 0, diff: changes.map(renderDiff).join(''), truncated: false };
  const expiresAt = new Date(state.clock.now().getTime() + 3_600_000).toISOString();
  return { ...toMerged(ran), ...common, changes: { transaction: id, expiresAt, ...lists, ...size } };
}

export function commitTransaction({ state, workspace }: FakeRun, { transaction }: { readonly transaction: string }) {
  const { changes } = mustFind(state.transactions, transaction, 'Transaction');
  applyChanges(workspace.tree, changes);
  state.transactions.delete(transaction);
  return reportChanges(changes);
}

export function discardTransaction({ state }: FakeRun, { transaction }: { readonly transaction: string }) {
  mustFind(state.transactions, transaction, 'Transaction');
  state.transactions.delete(transaction);
  return { discarded: transaction };
}

export function readShell(run: FakeRun, { shell_id, cursor }: { readonly shell_id: string; readonly cursor: number }) {
  const { command, output, exit } = mustFindShell(run, shell_id);
  const ended = exit ?? { exitCode: null, signal: null };
  const status = exit ? 'completed' : 'running';
  return {
    command,
    status,
    ...ended,
    output: output.slice(cursor),
    cursor: output.length,
    missed: 0,
    remaining: 0,
    denials: [],
  };
}

export function killShell(run: FakeRun, { shell_id }: { readonly shell_id: string }) {
  const shell = mustFindShell(run, shell_id);
  shell.stop.abort();
  run.state.shells.delete(shell_id);
  return { shell_id, wasRunning: shell.exit === undefined };
}

/** Shells are of one session. */
function mustFindShell({ state, session }: FakeRun, id: string): FakeShell {
  const shell = state.shells.get(id);
  if (shell?.session === session) return shell;
  throw new CroftError('E_NOT_FOUND', `unknown shell_id: ${id}`, { details: { shell_id: id } });
}
