import type { FileEntry } from '@croft/protocol';
import { CroftError } from '../errors/croft-error.ts';
import { type FakeRequest, type FakeRoute, route } from './fake-routes.ts';
import { type FakeWorkspace, mustFind, recordChange } from './fake-state.ts';
import { matchesIn } from './fake-tools.ts';
import { cleanPath, hashOf, isDirectory, matchesGlob, mustHave, pathsAt, type Tree, toText } from './fake-tree.ts';

const root = '/v1/workspaces/:id';

/** The files of workspaces. */
export const fileRoutes: readonly FakeRoute[] = [
  route(`GET ${root}/files`, (request) => {
    const { tree } = workspaceOf(request);
    const path = pathIn(request);
    if (tree.has(path)) return { files: [toEntry(tree, path, request)] };
    if (!isDirectory(tree, path)) mustHave(tree, path);
    return { files: listTree(tree, path, request) };
  }),
  route(`GET ${root}/file`, (request) => {
    const workspace = workspaceOf(request);
    const snapshot = request.query.get('snapshot');
    const tree = snapshot === null ? workspace.tree : mustFind(workspace.snapshots, snapshot, 'Snapshot').tree;
    const bytes = mustHave(tree, pathIn(request));
    return new Response(bytes, { headers: { etag: `"${hashOf(bytes)}"` } });
  }),
  route(`PUT ${root}/file`, async (request) => {
    const [path, bytes, { tree }] = [pathIn(request), await request.bytes(), workspaceOf(request)];
    if (isDirectory(tree, path)) throw new CroftError('E_NOT_A_FILE', `not a regular file: ${path}`);
    mustMatch(request, tree.get(path), path);
    await change(request, 'file.write', path, () => tree.set(path, bytes));
    return { path, sizeBytes: bytes.length, updatedAt: request.state.now(), etag: `"${hashOf(bytes)}"` };
  }),
  route(`POST ${root}/files/rename`, async (request) => {
    const body = await request.json();
    const [from, to] = [cleanPath(String(body.from)), cleanPath(String(body.to))];
    const { tree } = workspaceOf(request);
    const paths = pathsAt(tree, from);
    if (paths.length === 0) mustHave(tree, from);
    if (pathsAt(tree, to).length > 0) throw new CroftError('E_ALREADY_EXISTS', `${to} exists already`);
    await change(request, 'file.rename', from, () => {
      for (const path of paths) {
        tree.set(to + path.slice(from.length), mustHave(tree, path));
        tree.delete(path);
      }
    });
    return { renamed: paths.length, from, to };
  }),
  route(`DELETE ${root}/files`, async (request) => {
    const body = await request.json();
    const path = cleanPath(String(body.path));
    const { tree } = workspaceOf(request);
    const paths = pathsAt(tree, path);
    if (paths.length === 0) mustHave(tree, path);
    if (!tree.has(path) && body.recursive !== true)
      throw new CroftError('E_DIRECTORY_NOT_EMPTY', `directory is not empty: ${path}`);
    await change(request, 'file.remove', path, () => paths.map((name) => tree.delete(name)));
    return { deleted: paths.length };
  }),
  route(`GET ${root}/search`, (request) => {
    const { query } = request;
    const [glob, pattern] = [query.get('glob'), query.get('pattern') ?? ''];
    const { tree } = workspaceOf(request);
    const literal = query.get('literal') === 'true' ? pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : pattern;
    const matcher = new RegExp(literal, query.get('ignoreCase') === 'true' ? 'i' : '');
    const paths = pathsAt(tree, pathIn(request)).filter((path) => glob === null || matchesGlob(glob, path));
    return { matches: paths.flatMap((path) => matchesIn(path, toText(mustHave(tree, path)), matcher)), isCut: false };
  }),
];

export function workspaceOf({ state, params }: FakeRequest): FakeWorkspace {
  return mustFind(state.workspaces, params.id ?? '', 'Workspace');
}

function pathIn({ query }: FakeRequest): string {
  return cleanPath(query.get('path') ?? '');
}

function change(request: FakeRequest, tool: string, title: string, work: () => unknown): Promise<unknown> {
  request.state.log(tool, workspaceOf(request).record.workspaceId, { path: title });
  return recordChange(request.state, workspaceOf(request), { tool, title, session: 'key' }, work);
}

function mustMatch({ headers }: FakeRequest, bytes: Uint8Array | undefined, path: string): void {
  const [match, none] = [headers.get('if-match'), headers.get('if-none-match')];
  const isOther = match !== null && (!bytes || match !== `"${hashOf(bytes)}"`);
  if (isOther || (none === '*' && bytes))
    throw new CroftError('E_PRECONDITION_FAILED', `${path} is not as the request says`);
}

function listTree(tree: Tree, folder: string, request: FakeRequest): FileEntry[] {
  const isRecursive = request.query.get('recursive') === 'true';
  const below = pathsAt(tree, folder);
  const folders = below.flatMap((path) => foldersOf(path)).filter((path) => path !== folder && isBelow(path, folder));
  const shown = [...new Set([...folders, ...below])].sort();
  const depth = folder === '' ? 1 : folder.split('/').length + 1;
  const wanted = isRecursive ? shown : shown.filter((path) => path.split('/').length === depth);
  return wanted.map((path) => toEntry(tree, path, request));
}

function isBelow(path: string, folder: string): boolean {
  return folder === '' || path.startsWith(`${folder}/`);
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function toEntry(tree: Tree, path: string, { state }: FakeRequest): FileEntry {
  const bytes = tree.get(path);
  const name = path.split('/').at(-1) ?? '';
  if (!bytes) return { path, name, kind: 'directory', isFolder: true };
  return { path, name, kind: 'file', isFolder: false, sizeBytes: bytes.length, updatedAt: state.now() };
}
