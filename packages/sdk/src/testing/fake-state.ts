import type { AccountEvent, Agent, Approval, AuditRecord, Sandbox, Workspace } from '@croft/protocol';
import { CroftError } from '../errors/croft-error.ts';
import type { InnerClock } from './fake-clock.ts';
import { compareTrees, type MutableTree, type Tree, type TreeChange } from './fake-tree.ts';

export const accountId = 'acc_fake';

export interface FakeCheckpoint {
  readonly checkpointId: string;
  readonly tool: string;
  readonly title: string;
  readonly session: string;
  readonly at: string;
  readonly changes: readonly TreeChange[];
  undoneBy?: string;
}

export interface FakeSnapshot {
  readonly name: string;
  readonly description: string;
  readonly createdAt: string;
  readonly tree: Tree;
}

export interface FakeWorkspace {
  readonly record: Workspace;
  readonly tree: MutableTree;
  readonly snapshots: Map<string, FakeSnapshot>;
  readonly checkpoints: FakeCheckpoint[];
  /** For a fork: the workspace that it was forked from, and the files as they were then. */
  readonly origin?: { readonly workspace: FakeWorkspace; readonly tree: Tree };
}

export interface FakeShell {
  readonly id: string;
  readonly session: string;
  readonly workspace: string;
  readonly command: string;
  readonly stop: AbortController;
  output: string;
  exit?: { readonly exitCode: number | null; readonly signal: string | null };
}

export interface FakeTransaction {
  readonly id: string;
  readonly workspace: FakeWorkspace;
  readonly changes: readonly TreeChange[];
}

export interface FakeCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly session: string;
}

export type FakeState = ReturnType<typeof createState>;

/** Everything that the fake server remembers. */
export function createState(clock: InnerClock) {
  let [ids, _version] = [0, 0];
  const listeners = new Set<() => void>();
  const audit: AuditRecord[] = [];
  const now = () => clock.now().toISOString();
  const newId = (kind: string) => `${kind}_${(++ids).toString().padStart(8, '0')}`;
  const state = {
    ...{ clock, now, newId, audit },
    workspaces: new Map<string, FakeWorkspace>(),
    sandboxes: new Map<string, Sandbox>(),
    agents: new Map<string, Agent>(),
    approvals: new Map<string, Approval>(),
    shells: new Map<string, FakeShell>(),
    transactions: new Map<string, FakeTransaction>(),
    calls: [] as FakeCall[],
    /** The fields that every record has. */
    recordFields(name: string) {
      _version += 1;
      return { accountId, name, createdAt: now(), updatedAt: now(), version: 1 };
    },
    addWorkspace(name: string, tree: MutableTree = new Map(), origin?: FakeWorkspace['origin']): FakeWorkspace {
      const record = {
        ...state.recordFields(name),
        workspaceId: newId('ws'),
        config: { storage: { provider: 'local' as const } },
      };
      const made = { record, tree, snapshots: new Map(), checkpoints: [], ...(origin && { origin }) };
      state.workspaces.set(record.workspaceId, made);
      return made;
    },
    log(action: string, target: string, details: object = {}): void {
      const sequence = audit.length + 1;
      const chain = { previous: String(sequence - 1), hash: String(sequence) };
      audit.push({
        sequence,
        accountId,
        at: now(),
        actor: 'key',
        action,
        target,
        details: JSON.stringify(details),
        ...chain,
      });
      for (const listener of listeners) listener();
    },
    onLog(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return state;
}

export function mustFind<Row>(rows: ReadonlyMap<string, Row>, id: string, what: string): Row {
  const row = rows.get(id);
  if (row) return row;
  throw new CroftError('E_NOT_FOUND', `${what} not found`);
}

export interface ChangeLabel {
  readonly tool: string;
  readonly title: string;
  readonly session: string;
}

/** Runs work that may change files, and remembers what it changed, to take it back. */
export async function recordChange<T>(
  state: FakeState,
  workspace: FakeWorkspace,
  label: ChangeLabel,
  work: () => T | Promise<T>,
): Promise<T> {
  const before: Tree = new Map(workspace.tree);
  try {
    return await work();
  } finally {
    const changes = compareTrees(before, workspace.tree);
    if (changes.length > 0)
      workspace.checkpoints.unshift({ checkpointId: state.newId('cp'), ...label, at: state.now(), changes });
  }
}

/** Makes every path what it is after the changes. */
export function applyChanges(tree: MutableTree, changes: readonly TreeChange[]): void {
  for (const { path, after } of changes) {
    if (after) tree.set(path, after);
    else tree.delete(path);
  }
}

export type { AccountEvent };
