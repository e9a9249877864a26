import { AppError } from '@croft/protocol';
import { fromUri } from '../ports/file-uris.ts';
import type { TextEdit, WorkspaceEdit } from '../ports/protocol-schemas.ts';
import { isVendored } from '../servers/is-vendored.ts';

/** The edits that a server proposes, by paths of the workspace. */
export interface FileEdits {
  readonly edits: ReadonlyMap<string, readonly TextEdit[]>;
  readonly moves: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Reads the edits of a server, which may name anything. Throws `E_SANDBOX_VIOLATION` for a file outside the workspace,
 * and `E_INVALID_INPUT` for one that nobody edits here: then nothing of the edit is applied.
 */
export function readFileEdits(root: string, { changes, documentChanges }: WorkspaceEdit): FileEdits {
  const edits = new Map<string, TextEdit[]>();
  const moves: { from: string; to: string }[] = [];
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
  return { edits: new Map([...edits].sort(([a], [b]) => (a < b ? -1 : 1))), moves };
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
