import { AppError } from '@croft/protocol';
import { changeSeenFile } from '../../content/edit/change-seen-file.ts';
import { restoreSecrets } from '../../content/edit/restore-secrets.ts';
import type { FileVersion } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { CodeSymbol, ParsedFile, SourceRange } from '../code-symbol.ts';
import { hashOf } from '../source-lines.ts';
import { noGrammar } from '../symbols/find-symbol.ts';
import { mustHaveSyntax } from '../symbols/must-have-syntax.ts';
import type { QueriedFile } from '../symbols/pick-symbol.ts';
import type { SpliceKind } from './check-splice.ts';
import type { Splice } from './splice.ts';
import { spliceAndCheck } from './splice-and-check.ts';

/** A change of one symbol in one file. */
export interface SymbolChange {
  readonly path: string;
  readonly kind: SpliceKind;
  /** The text that the caller wrote; redaction marks in it become the secrets again. */
  readonly text: string;
  locate(file: QueriedFile): CodeSymbol;
  splice(bytes: Buffer, parsed: ParsedFile, symbol: CodeSymbol, text: string): Splice;
  /** Checked after the symbol is found and before anything is changed. */
  check?(symbol: CodeSymbol): Promise<void>;
}

export interface ChangedSymbol {
  readonly bytes: Buffer;
  readonly before: Buffer;
  readonly symbol: CodeSymbol;
  readonly oldRange: SourceRange;
  readonly newRange: SourceRange;
}

/** Works out a change without writing it, for a person who has to approve it. */
export async function previewSymbolChange(context: ToolContext, change: SymbolChange): Promise<ChangedSymbol> {
  const file = await context.workspace.files.read(change.path);
  return decide(context, change, file, file.bytes);
}

/** Changes one symbol. Everything outside of the replaced range stays byte by byte. */
export async function changeSymbol(context: ToolContext, change: SymbolChange) {
  const { workspace, session } = context;
  const { path } = change;
  const changed = await changeSeenFile(context, path, async (current) => {
    if (!current) throw new AppError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
    return decide(context, change, current, await current.content());
  });
  const { after } = changed.change;
  // A session that has read only this symbol also knows its new text.
  if (after) session.reads.sawPart(workspace.name, changed.written.path, hashOf(changed.change.bytes, after.range));
  return changed;
}

async function decide(context: ToolContext, change: SymbolChange, file: FileVersion, before: Buffer) {
  const { workspace, signal, secrets } = context;
  const { path } = change;
  mustHaveReadPart(context, file, path);
  const syntax = mustHaveSyntax(workspace);
  const parse = async (bytes: Buffer): Promise<ParsedFile> => {
    const parsed = await syntax.parse({ path: file.path, bytes }, signal);
    if (!parsed) throw noGrammar(path, syntax.extensions);
    return parsed;
  };
  const parsed = await parse(before);
  const symbol = change.locate({ path, bytes: before, parsed });
  mustHaveRead(context, file, path, hashOf(before, symbol.range));
  const text = await restoreSecrets(change.text, () => before, path, secrets.marks);
  const splice = change.splice(before, parsed, symbol, text);
  const spliced = await spliceAndCheck({ bytes: before, parsed, symbol, splice, kind: change.kind, parse });
  await change.check?.(symbol);
  return { ...spliced, before, symbol, oldRange: splice.range };
}

/** Refuses at once if the session has read nothing of this file. */
function mustHaveReadPart({ workspace, session }: ToolContext, file: FileVersion, path: string): void {
  if (session.reads.hasSeenPart(workspace.name, file.path)) return;
  session.reads.mustHaveSeen(workspace.name, file, 'edit', path);
}

/** The session has read this version of the file, or exactly these bytes of the symbol. */
function mustHaveRead({ workspace, session }: ToolContext, file: FileVersion, path: string, hash: string): void {
  if (session.reads.hasSeenPart(workspace.name, file.path, hash)) return;
  session.reads.mustHaveSeen(workspace.name, file, 'edit', path);
}
