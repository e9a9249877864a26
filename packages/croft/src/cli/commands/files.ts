import { openAsBlob } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { FileEntry } from '@croft/protocol';
import { obeyedPatterns } from '../../core/control-files/control-file-names.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineGroup } from '../command.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { joinPath, parseLocation, parseRemote } from '../files/file-location.ts';
import { writeLocalFile } from '../files/local-tree.ts';
import { runFileSync, type SyncResult } from '../files/run-file-sync.ts';
import { outputOptions, printJson, printRows, toCell } from '../output/print-rows.ts';
import { openProgressLine } from '../output/progress-line.ts';
import { writeToStream } from '../output/write-to-stream.ts';
import { findWorkspace } from '../records/find-workspace.ts';

const { json } = outputOptions;

const ls = defineClientCommand({
  name: 'files ls',
  usage: 'WORKSPACE[:FOLDER] [-r] [--snapshot SNAPSHOT] [--json | -q]',
  summary: 'list a folder of a workspace',
  examples: ['croft files ls notes', 'croft files ls notes:src -r -q'],
  options: {
    recursive: { type: 'boolean', short: 'r', summary: 'everything below it' },
    snapshot: { type: 'string', value: 'SNAPSHOT', completes: 'snapshots', summary: 'as the folder was then' },
    ...outputOptions,
  },
  takes: [1, 1],
  words: ['location'],
  async run({ client, values, words: [word], terminal }) {
    const { workspace, path } = parseRemote(word);
    const { workspaceId } = await findWorkspace(client, workspace);
    const { recursive, snapshot } = values;
    const rows = await Array.fromAsync(client.files(workspaceId).all({ path, recursive, snapshot }));
    printRows({ columns, idOf, rows, answer: { files: rows } }, values, terminal);
  },
});

const idOf = ({ path }: FileEntry) => path;
const columns = {
  kind: ({ kind }: FileEntry) => kind,
  size: ({ sizeBytes }: FileEntry) => sizeBytes,
  updated: ({ updatedAt }: FileEntry) => updatedAt,
  path: ({ path, target }: FileEntry) => (target === undefined ? path : `${path} -> ${target}`),
};

const get = defineClientCommand({
  name: 'files get',
  usage: 'WORKSPACE:FILE [LOCAL | -] [--snapshot SNAPSHOT]',
  summary: 'copy a file of a workspace to this machine, or to standard output with -',
  examples: ['croft files get notes:README.md', 'croft files get notes:src/main.ts - | head'],
  options: {
    snapshot: { type: 'string', value: 'SNAPSHOT', completes: 'snapshots', summary: 'as the file was then' },
  },
  takes: [1, 2],
  words: ['location', 'file'],
  async run({ client, values, words: [word, to], terminal: { stdout } }) {
    const { workspace, path } = parseRemote(word);
    if (path === '') throw new UsageError(`usage: ${get.usage}`);
    const { workspaceId } = await findWorkspace(client, workspace);
    const { body } = await client.files(workspaceId).download(path, { snapshot: values.snapshot });
    const pieces = body as AsyncIterable<Uint8Array> & typeof body;
    if (to === '-') for await (const piece of pieces) await writeToStream(stdout, piece);
    else {
      const target = await toLocalFile(to ?? '.', basename(path));
      await writeLocalFile(dirname(target), basename(target), pieces);
    }
  },
});

/** In an existing directory the file keeps its name. */
async function toLocalFile(to: string, name: string): Promise<string> {
  const isDirectory = to.endsWith('/') || (await stat(to).catch(() => undefined))?.isDirectory();
  return isDirectory ? resolve(to, name) : resolve(to);
}

const put = defineClientCommand({
  name: 'files put',
  usage: '(LOCAL | -) WORKSPACE:[FILE | FOLDER/] [--new] [--json]',
  summary: 'copy a file of this machine, or standard input with -, into a workspace',
  examples: ['croft files put plan.md notes:', 'date | croft files put - notes:logs/today.txt'],
  options: { new: { type: 'boolean', summary: 'only if the workspace has no such file' }, json },
  takes: [2, 2],
  words: ['file', 'location'],
  async run({ client, values, words: [from, to = ''], terminal }) {
    const { workspace, path } = parseRemote(to);
    const isFolder = path === '' || to.endsWith('/');
    if (from === '-' && isFolder)
      throw new UsageError('say what standard input is called there, such as notes:today.txt');
    const { workspaceId } = await findWorkspace(client, workspace);
    const target = isFolder ? joinPath(path, basename(resolve(from))) : path;
    const body = from === '-' ? Readable.toWeb(terminal.stdin as Readable) : await openLocal(from);
    const answer = await client.files(workspaceId).upload(target, body as Blob, { isNew: values.new });
    if (values.json) printJson(answer, terminal.stdout);
  },
});

async function openLocal(file: string): Promise<Blob> {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile()) return openAsBlob(file);
  if (found?.isDirectory()) throw new UsageError(`${file} is a directory; croft files sync takes directories`);
  throw new UsageError(`there is no file ${file}`);
}

/** Git's own directory has what programs outside the sandbox obey, and dependencies are of one machine. */
const usuallyExcluded = ['.git', 'node_modules'];

const sync = defineClientCommand({
  name: 'files sync',
  usage: '(LOCAL WORKSPACE:[FOLDER] | WORKSPACE:[FOLDER] LOCAL) [--delete] [--dry-run] [--exclude NAME …] [--json]',
  summary: 'make the second directory as the first: only files that differ are sent; links are left out',
  examples: [
    'croft files sync . notes: --dry-run',
    'croft files sync ./src notes:src',
    'croft files sync notes:src ./src',
  ],
  options: {
    delete: { type: 'boolean', summary: 'also delete files that the first does not have' },
    'dry-run': { type: 'boolean', summary: 'only say what would be done' },
    exclude: {
      ...{ type: 'string', multiple: true, value: 'NAME' },
      summary: `leave out files and directories of this name, instead of ${usuallyExcluded.join(' and ')}`,
    },
    'allow-control': {
      ...{ type: 'string', multiple: true, value: 'NAME' },
      summary: 'copy control files of this name to this machine, such as .vscode; without it none comes',
    },
    json: { type: 'boolean', summary: 'print one JSON object with the steps' },
  },
  takes: [2, 2],
  words: ['location'],
  async run({ client, values, words: [from, to = ''], terminal }) {
    const [source, target] = [parseLocation(from), parseLocation(to)];
    const { workspace = source.workspace } = target;
    if (workspace === undefined || (source.workspace === undefined) === (target.workspace === undefined))
      throw new UsageError(`one of the two is in a workspace, such as notes:src; usage: ${sync.usage}`);
    const { workspaceId } = await findWorkspace(client, workspace);
    const [direction, local, remote] =
      source.workspace === undefined ? (['push', from, target.path] as const) : (['pull', to, source.path] as const);
    await mustBeDirectory(local, direction);
    using progress = openProgressLine(terminal);
    const flags = { deletes: values.delete ?? false, isDry: values['dry-run'] ?? false };
    const exclude = new Set(values.exclude ?? usuallyExcluded);
    const files = client.files(workspaceId);
    const allowControl = toAllowedNames(values['allow-control'] ?? []);
    const result = await runFileSync({ files, local, remote, direction, exclude, allowControl, progress, ...flags });
    progress[Symbol.dispose]();
    if (values.json) printJson(toCounts(result), terminal.stdout);
    else printSync(result, flags, terminal);
  },
});

async function mustBeDirectory(local: string, direction: 'push' | 'pull'): Promise<void> {
  if (direction === 'pull') await mkdir(local, { recursive: true });
  if (!(await stat(local).catch(() => undefined))?.isDirectory())
    throw new UsageError(`${local} is no directory of this machine; for one file use croft files put or get`);
}

function toAllowedNames(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.find((name) => !obeyedPatterns.includes(name));
  if (unknown === undefined) return new Set(names);
  throw new UsageError(`--allow-control takes one of ${obeyedPatterns.join(', ')}; not ${JSON.stringify(unknown)}`);
}

const letters = { add: 'A', change: 'M', delete: 'D' } as const;

function toCounts({ steps, same, skipped, heldBack }: SyncResult) {
  const deleted = steps.filter(({ kind }) => kind === 'delete').length;
  return { sent: steps.length - deleted, deleted, same, skipped: skipped.length, heldBack: heldBack.length, steps };
}

function printSync(
  result: SyncResult,
  { isDry }: { readonly isDry: boolean },
  { stdout, stderr }: CommandContext,
): void {
  const { steps, skipped, heldBack } = result;
  const { sent, deleted, same } = toCounts(result);
  stdout.write(steps.map(({ kind, path }) => `${letters[kind]}\t${toCell(path)}\n`).join(''));
  const left = skipped.length === 0 ? '' : `, ${skipped.length} left out (links and the like): ${toCell(skipped[0])} …`;
  stderr.write(`${isDry ? 'would send' : 'sent'} ${sent}, deleted ${deleted}, ${same} the same${left}\n`);
  if (heldBack.length > 0) stderr.write(describeHeldBack(heldBack));
}

function describeHeldBack(paths: readonly string[]): string {
  const named = paths.slice(0, 5).map((path) => `  ${toCell(path)}\n`);
  const rest = paths.length > named.length ? `  and ${paths.length - named.length} more\n` : '';
  return (
    `${paths.length} not copied, because git, an editor or an agent on this machine would obey them:\n${named.join('')}${rest}` +
    'To copy settings of an editor or an agent, read them first and then name them: --allow-control .vscode\n'
  );
}

export const files = defineGroup('files', { ls, get, put, sync });
