import type { Checkpoint, Snapshot } from '@croft/protocol';
import { CroftError } from '../errors/croft-error.ts';
import { workspaceOf } from './fake-file-routes.ts';
import { type FakeRequest, type FakeRoute, route } from './fake-routes.ts';
import {
  applyChanges,
  type FakeCheckpoint,
  type FakeSnapshot,
  type FakeWorkspace,
  mustFind,
  recordChange,
} from './fake-state.ts';
import { compareTrees, hashOf, renderDiff, reportChanges, type TreeChange } from './fake-tree.ts';

const root = '/v1/workspaces/:id';

/** Snapshots, undo and forks. */
export const historyRoutes: readonly FakeRoute[] = [
  route(`GET ${root}/snapshots`, (request) => ({
    snapshots: [...workspaceOf(request).snapshots.values()].reverse().map(toSnapshot),
  })),
  route(`POST ${root}/snapshots`, async (request) => {
    const { name, description = '' } = await request.json();
    const { snapshots, tree } = workspaceOf(request);
    const made = {
      name: String(name),
      description: String(description),
      createdAt: request.state.now(),
      tree: new Map(tree),
    };
    const replaced = snapshots.delete(made.name);
    snapshots.set(made.name, made);
    return { snapshot: toSnapshot(made), replaced };
  }),
  route(`GET ${root}/snapshots/:name/diff`, (request) => {
    const changes = compareTrees(snapshotOf(request).tree, workspaceOf(request).tree);
    return { paths: changes.length, changes: changes.map(toChange) };
  }),
  route(`POST ${root}/snapshots/:name/restore`, async (request) => {
    const { name, tree } = snapshotOf(request);
    return { snapshot: name, ...(await makeChange(request, 'restore', compareTrees(workspaceOf(request).tree, tree))) };
  }),
  route(`GET ${root}/checkpoints`, (request) => {
    const limit = Number(request.query.get('limit') ?? 50);
    return { checkpoints: workspaceOf(request).checkpoints.slice(0, limit).map(toCheckpoint) };
  }),
  route(`GET ${root}/checkpoints/:checkpoint/diff`, (request) => {
    const found = checkpointOf(workspaceOf(request), request.params.checkpoint ?? '');
    return { checkpoint: toCheckpoint(found), paths: found.changes.length, changes: found.changes.map(toChange) };
  }),
  route(`POST ${root}/undo`, undo),
  route(`GET ${root}/forks`, (request) => {
    const own = workspaceOf(request);
    const forks = [...request.state.workspaces.values()].filter(({ origin }) => origin?.workspace === own);
    return { forks: forks.map(toFork) };
  }),
  route(`POST ${root}/forks`, async (request) => {
    const { name, snapshot } = await request.json();
    const workspace = workspaceOf(request);
    const tree =
      typeof snapshot === 'string' ? mustFind(workspace.snapshots, snapshot, 'Snapshot').tree : workspace.tree;
    const origin = { workspace, tree: new Map(tree) };
    return { fork: toFork(request.state.addWorkspace(String(name), new Map(tree), origin)) };
  }),
  route(`POST ${root}/merge`, async (request) => {
    const { fork: name } = await request.json();
    const own = workspaceOf(request);
    const isIt = ({ record, origin }: FakeWorkspace) => record.name === name && origin?.workspace === own;
    const fork = [...request.state.workspaces.values()].find(isIt);
    if (!fork?.origin) throw new CroftError('E_NOT_FOUND', `there is no fork ${name}`);
    const report = await makeChange(request, 'merge', compareTrees(fork.origin.tree, fork.tree));
    return { ...report, merged: [], conflicts: [] };
  }),
];

async function undo(request: FakeRequest) {
  const { calls = 1, checkpointId } = await request.json();
  const workspace = workspaceOf(request);
  const open = workspace.checkpoints.filter(({ undoneBy }) => undoneBy === undefined);
  const undone =
    typeof checkpointId === 'string' ? [checkpointOf(workspace, checkpointId)] : open.slice(0, Number(calls));
  const back = undone.flatMap(({ changes }) =>
    changes.map(({ path, before, after }) => ({ path, before: after, after: before })),
  );
  for (const { path, before } of back.slice(0, undone[0]?.changes.length ?? 0)) mustBe(workspace, path, before);
  const report = await makeChange(request, 'undo', back);
  for (const checkpoint of undone) checkpoint.undoneBy = workspace.checkpoints[0]?.checkpointId ?? '';
  return { undone: undone.map(toCheckpoint), ...report };
}

function mustBe({ tree }: FakeWorkspace, path: string, expected: Uint8Array | undefined): void {
  const found = tree.get(path);
  if ((found && hashOf(found)) === (expected && hashOf(expected))) return;
  throw new CroftError('E_CONFLICT', `${path} was changed again since`, { details: { paths: [path] } });
}

async function makeChange(request: FakeRequest, tool: string, changes: readonly TreeChange[]) {
  const workspace = workspaceOf(request);
  const label = { tool, title: '', session: 'key' };
  await recordChange(request.state, workspace, label, () => applyChanges(workspace.tree, changes));
  return { ...reportChanges(changes), paths: changes.length, takenBackBy: workspace.checkpoints[0]?.checkpointId };
}

function snapshotOf(request: FakeRequest): FakeSnapshot {
  return mustFind(workspaceOf(request).snapshots, request.params.name ?? '', 'Snapshot');
}

function checkpointOf({ checkpoints }: FakeWorkspace, id: string): FakeCheckpoint {
  const found = checkpoints.find(({ checkpointId }) => checkpointId === id);
  if (found) return found;
  throw new CroftError('E_NOT_FOUND', 'Checkpoint not found');
}

function toSnapshot({ name, description, createdAt, tree }: FakeSnapshot): Snapshot {
  const bytes = [...tree.values()].reduce((sum, { length }) => sum + length, 0);
  const hash = hashOf(new TextEncoder().encode([...tree].map(([path, content]) => path + hashOf(content)).join()));
  return {
    name,
    description,
    createdAt,
    hash,
    files: tree.size,
    bytes,
    includesIgnored: true,
    isAutomatic: false,
    checks: [],
  };
}

function toCheckpoint({ changes, ...rest }: FakeCheckpoint): Checkpoint {
  return { ...rest, paths: changes.length };
}

function toChange(change: TreeChange) {
  const entry = (bytes: Uint8Array | undefined) =>
    bytes && { kind: 'file', mode: 0o644, size: bytes.length, hash: hashOf(bytes) };
  return { path: change.path, before: entry(change.before), after: entry(change.after), diff: renderDiff(change) };
}

function toFork({ record, origin }: FakeWorkspace) {
  const { name, workspaceId, createdAt } = record;
  return { name, workspaceId, createdAt, parent: origin?.workspace.record.name ?? '' };
}
