import { z } from 'zod';
import type { Checkpoint, FileDiff, TreeReport } from '../ports/history.ts';
import type { TreeEntry } from '../ports/tree.ts';
import { printableName } from '../trees/text-diff.ts';

const Paths = z.array(z.string());

/** The effect of a restore or an undo, as tools answer it. */
export const treeReportOutput = {
  added: Paths,
  changed: Paths,
  removed: Paths,
  refused: Paths.describe('Control files, which programs outside the sandbox obey: these are as they were'),
  paths: z.int().describe('How many were changed in all; the lists hold 10000 each at most'),
  takenBackBy: z.string().optional().describe('The snapshot or checkpoint that reverts this'),
};

const maxLines = 1000;
const maxPaths = 10_000;

export function toTreeReportOutput(report: TreeReport) {
  const { added, changed, removed, refused, takenBackBy } = report;
  const named = (paths: readonly string[]) => paths.slice(0, maxPaths).map((path) => path.toWellFormed());
  return {
    ...{ added: named(added), changed: named(changed), removed: named(removed), refused: named(refused) },
    paths: countPaths(report),
    ...(takenBackBy !== '' && { takenBackBy }),
  };
}

/** Renders one line per path. */
export function renderTreeReport({ added, changed, removed, refused }: TreeReport): string[] {
  const lines = [
    ...added.map((path) => `added ${printableName(path)}`),
    ...changed.map((path) => `changed ${printableName(path)}`),
    ...removed.map((path) => `removed ${printableName(path)}`),
    ...refused.map((path) => `left as it was ${printableName(path)}: programs outside the sandbox obey it`),
  ].map((line) => line.toWellFormed());
  const more = lines.length - maxLines;
  return more > 0 ? [...lines.slice(0, maxLines), `(${more} more paths)`] : lines;
}

export function countPaths({ added, changed, removed }: TreeReport): number {
  return added.length + changed.length + removed.length;
}

/** Renders the change of one path, with its text diff if there is one. */
export function renderDiff(diff: FileDiff): string {
  const { path, before, after, text } = diff;
  const what = !before ? 'added' : !after ? 'removed' : 'changed';
  const facts = detailOf(diff);
  const line = `${what} ${printableName(path)}${facts === '' ? '' : ` (${facts})`}\n`.toWellFormed();
  return text === undefined ? line : line + text;
}

/** Describes a change that a text diff does not show: another kind, another mode, or sizes of binary files. */
export function detailOf({ before, after, text }: FileDiff): string {
  return [
    ...(before && after && before.kind !== after.kind ? [`was a ${before.kind}, is a ${after.kind}`] : []),
    ...(before && after && before.mode !== after.mode ? [`mode ${octal(before)} to ${octal(after)}`] : []),
    ...(text === undefined ? sizes(before, after) : []),
  ].join(', ');
}

function sizes(before: TreeEntry | undefined, after: TreeEntry | undefined): string[] {
  const kind = (after ?? before)?.kind;
  if (kind !== 'file') return [kind ?? ''];
  if (before && after) return before.hash === after.hash ? [] : [`${before.size} to ${after.size} bytes, not shown`];
  return [`${(after ?? before)?.size} bytes`];
}

function octal({ mode }: TreeEntry): string {
  return mode.toString(8);
}

export const checkpointOutput = z.object({
  checkpoint: z.string(),
  tool: z.string(),
  title: z.string().describe('The command or the path of the call'),
  session: z.string(),
  at: z.string(),
  paths: z.int().describe('How many it changed'),
  undoneBy: z.string().optional(),
  alongside: z.array(z.string()).optional().describe('Other calls at the same time: a part of it may be theirs'),
  isPartial: z.boolean().optional().describe('Its first changes were not captured'),
  isByproduct: z.boolean().optional().describe('Left behind by a check: undo passes over it unless it is named'),
});

export function toCheckpointOutput({ id, call, at, paths, undoneBy, alongside, isPartial }: Checkpoint) {
  return {
    ...{ checkpoint: id, tool: call.tool, title: call.title, session: call.session, at, paths },
    ...(undoneBy !== undefined && { undoneBy }),
    ...(alongside && { alongside: alongside.map((other) => `${other.tool} ${other.title}`.trimEnd()) }),
    ...(isPartial && { isPartial }),
    ...(call.byproducts === 'all' && { isByproduct: true }),
  };
}

/** Renders a checkpoint in one line. */
export function renderCheckpoint({ id, call, paths, undoneBy, alongside, isPartial }: Checkpoint): string {
  const facts = [
    `${paths} ${paths === 1 ? 'path' : 'paths'}`,
    ...(alongside ? [`alongside ${alongside.map(({ tool }) => tool).join(', ')}`] : []),
    ...(isPartial ? ['what it changed at first was not seen'] : []),
    ...(call.byproducts === 'all' ? ['by a check: undo passes over it unless it is named'] : []),
    ...(undoneBy === undefined ? [] : [`undone by ${undoneBy}`]),
  ];
  return `${id}\t${[call.tool, printableName(call.title)].filter((word) => word !== '').join(' ')}\t${facts.join('; ')}`;
}
