import { AppError } from '@croft/protocol';
import { compactDiff } from '../../../lib/text/compact-diff.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { FileEdits } from '../ports/code-questions.ts';
import { readSource, type SourceText } from '../ports/source-text.ts';
import { applyTextEdits } from './apply-text-edits.ts';

/** A file with its content before and after the edits. */
export interface PlannedFile {
  readonly path: string;
  /** The version that the edits were made for. */
  readonly version: string;
  readonly after: Buffer;
  readonly edits: number;
  readonly diff: string;
}

export interface EditPlan {
  readonly files: readonly PlannedFile[];
  readonly moves: FileEdits['moves'];
}

const maxDiffLines = 200;

/** Works out the new contents, and refuses control files, before anything is written. */
export async function planEdits({ files: edited, moves }: FileEdits, { workspace }: ToolContext): Promise<EditPlan> {
  await refuseControlFiles(
    [...edited.map(({ path }) => path), ...moves.flatMap(({ from, to }) => [from, to])],
    workspace,
  );
  const files: PlannedFile[] = [];
  for (const { path, edits: own } of edited) {
    const source = await readSource(workspace.files, path);
    const after = applyTextEdits(source, own);
    files.push({ path, version: source.version, after, edits: own.length, diff: diffOf(source, after) });
  }
  return { files, moves };
}

/** Throws `E_CONTROL_FILE`: an approval of a control file does not cover a change of many files. */
export async function refuseControlFiles(paths: readonly string[], workspace: ToolContext['workspace']): Promise<void> {
  const [guarded] = (await workspace.files.controlFiles?.(paths)) ?? [];
  if (!guarded) return;
  throw new AppError('E_CONTROL_FILE', `nothing was changed: ${guarded.path} is a control file. ${guarded.why}`, {
    details: { path: guarded.path },
  });
}

function diffOf({ text, hasMark }: SourceText, after: Buffer): string {
  return compactDiff(text, after.toString('utf8').slice(hasMark ? 1 : 0), { context: 0, maxLines: maxDiffLines });
}

/** Renders the diffs of a plan, up to a number of lines; then counts. */
export function renderPlan({ files, moves }: EditPlan): { readonly list: string; readonly diff: string } {
  const list = [
    ...files.map(({ path, edits }) => `  - ${path} (${edits} edit(s))`),
    ...moves.map(({ from, to }) => `  - ${from} is moved to ${to}`),
  ];
  const diffs = files.flatMap(({ path, diff }) => [`--- a/${path}`, `+++ b/${path}`, ...diff.split('\n')]);
  const more = diffs.length - maxDiffLines;
  const shown = more > 0 ? [...diffs.slice(0, maxDiffLines), `… (${more} more diff lines)`] : diffs;
  return { list: list.join('\n'), diff: shown.join('\n') };
}
