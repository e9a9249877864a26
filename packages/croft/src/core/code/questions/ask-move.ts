import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { FileEdits, FileMove } from '../ports/code-questions.ts';
import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer, LanguageServers } from '../ports/language-servers.ts';
import { WorkspaceEdit } from '../ports/protocol-schemas.ts';
import { serversOf, useServerOf } from '../servers/ask-server-or-search-text.ts';
import { askUntilFresh } from '../servers/ask-until-fresh.ts';
import type { CodeContext } from '../servers/code-context.ts';
import { readFileEdits } from './read-file-edits.ts';

const FileOperations = z.object({ fileOperations: z.object({ willRename: z.unknown().optional() }).optional() });
const maxListed = 1000;
const maxDirectories = 200;

/**
 * Asks the server of a file for the edits of other files that its move needs. For a directory, asks the server of its
 * first source file. Throws `E_NO_SERVER` if there is no server.
 */
export async function askMove({ from, to }: FileMove, context: CodeContext): Promise<FileEdits> {
  const { kind, path } = await context.workspace.files.stat(from);
  // A link is moved and its target is not, so that no import changes.
  if (path !== posix.normalize(from).replace(/\/$/, ''))
    throw new AppError(
      'E_INVALID_INPUT',
      `${from} is a link or lies behind one: move ${path}, or leave out update_imports`,
    );
  const source = kind === 'directory' ? await findSource(path, context) : path;
  return useServerOf(source, context, async (server) => {
    mustTellMoves(server);
    if (!(await server.whenReady(source)))
      throw new AppError('E_STALE', 'nothing was moved, because the language server is still reading the project', {
        hint: 'Make the same call again in a minute.',
      });
    return askUntilFresh(server, async () => {
      await server.open(source);
      const files = [{ oldUri: toUri(server.root, path), newUri: toUri(server.root, to) }];
      const answer = await server.request('workspace/willRenameFiles', { files });
      const edits = readFileEdits(server.root, WorkspaceEdit.parse(answer ?? {}));
      return { answer: edits, files: [source, ...edits.files.map((file) => file.path)] };
    });
  });
}

function mustTellMoves({ capabilities: { workspace }, definition: { name } }: LanguageServer): void {
  if (FileOperations.safeParse(workspace).data?.fileOperations?.willRename) return;
  throw new AppError('E_NO_SERVER', `the language server ${name} does not update imports`);
}

/** The first file below a directory that a server knows, the nearest first. */
async function findSource(directory: string, context: CodeContext): Promise<string> {
  const servers = serversOf(context);
  const waiting = [directory];
  for (let count = 0; count < maxDirectories; count += 1) {
    const next = waiting.shift();
    if (next === undefined) break;
    const { entries } = await context.workspace.files.list(next, { limit: maxListed });
    const paths = (kind: string) => entries.filter((one) => one.kind === kind).map(({ name }) => `${next}/${name}`);
    const found = paths('file').find((path) => isKnown(servers, path));
    if (found !== undefined) return found;
    waiting.push(...paths('directory'));
  }
  throw new AppError('E_NO_SERVER', `no language server is known for the files of ${directory}`);
}

function isKnown(servers: LanguageServers, path: string): boolean {
  return servers.definitionFor(path) !== undefined;
}
