import { AppError } from '@croft/protocol';
import type { FileEdits, FileMove } from '../ports/code-questions.ts';
import { fromUri } from '../ports/file-uris.ts';
import type { TextEdit, WorkspaceEdit } from '../ports/protocol-schemas.ts';
import { isVendored } from '../servers/is-vendored.ts';

/**
 * Reads the edits of a server, which may name anything. Throws `E_SANDBOX_VIOLATION` for a file outside the workspace,
 * and `E_INVALID_INPUT` for one that nobody edits here: then nothing of the edit is applied.
 */
export function readFileEdits(root: string, { changes, documentChanges }: WorkspaceEdit): FileEdits {
  const edits = new Map<string, TextEdit[]>();
  const moves: FileMove[] = [];
  const add = (uri: string, more: readonly TextEdit[]) => {
    if (more.length === 0) return;
    const path = toEditedPath(root, uri);
    edits.set(path, [...(edits.get(path) ?? []), ...more]);
  };
  for (const change of documentChanges ?? []) {
    if ('edits' in change) add(change.textDocument.uri, change.edits);
    else if (change.kind === 'rename')
      moves.push({ from: toEditedPath(root, change.oldUri), to: toEditedPath(root, change.newUri) });
    else throw refused(`the server wants to ${change.kind} ${change.uri.slice(0, 200)}, which this tool does not do`);
  }
  if (!documentChanges) for (const [uri, more] of Object.entries(changes ?? {})) add(uri, more);
  const files = [...edits].map(([path, own]) => ({ path, edits: own })).sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, moves };
}

function toEditedPath(root: string, uri: string): string {
  const target = fromUri(root, uri);
  if (!target || !('path' in target)) {
    const where = target ? target.external : uri.slice(0, 200);
    throw new AppError('E_SANDBOX_VIOLATION', `the language server wants to change ${where}, outside the workspace`, {
      details: { path: where },
    });
  }
  if (isVendored(target.path)) throw refused(`the change would reach ${target.path}, which is vendored`);
  return target.path;
}

function refused(why: string): AppError {
  return new AppError('E_INVALID_INPUT', `nothing was changed: ${why}`);
}
