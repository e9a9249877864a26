import type { FileChanges } from '@croft/sdk';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import type { CommandContext } from '../command.ts';
import { paint } from '../output/paint.ts';
import { toCell } from '../output/print-rows.ts';

/** Prints what changed, as `git diff` does: the difference of texts, and a line for everything else. */
export function printChanges(changes: FileChanges, { stdout }: CommandContext): void {
  for (const change of changes) {
    const text = change.diff === undefined ? `${describe(change)}\n` : endLine(stripControlSequences(change.diff));
    stdout.write(text.replace(/^.*$/gm, (line) => paintLine(stdout, line)));
  }
}

/** One line for each changed path: `A`, `M` or `D`, and the path. */
export function printChangedPaths(changes: FileChanges, { stdout }: CommandContext): void {
  for (const { before, after, path } of changes) {
    const letter = before === undefined ? 'A' : after === undefined ? 'D' : 'M';
    stdout.write(`${letter}\t${toCell(path)}\n`);
  }
}

interface TreeReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly refused: readonly string[];
}

/**
 * Prints the changes of a restore, an undo or a merge. Paths that could not be changed are listed on standard error.
 */
export function printReport(
  { added, changed, removed, refused }: TreeReport,
  { stdout, stderr }: CommandContext,
): void {
  const lines = Object.entries({ A: added, M: changed, D: removed });
  stdout.write(lines.flatMap(([letter, paths]) => paths.map((path) => `${letter}\t${toCell(path)}\n`)).join(''));
  for (const path of refused) stderr.write(`croft: ${toCell(path)} is a control file and stays as it is\n`);
}

function describe({ path, before, after }: FileChanges[number]): string {
  if (before === undefined) return `new ${after?.kind}: ${toCell(path)} (${after?.size} bytes)`;
  if (after === undefined) return `deleted ${before.kind}: ${toCell(path)}`;
  if (before.hash === after.hash)
    return `mode ${before.mode.toString(8)} to ${after.mode.toString(8)}: ${toCell(path)}`;
  return `changed ${after.kind}: ${toCell(path)} (${before.size} to ${after.size} bytes)`;
}

function endLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function paintLine(stdout: CommandContext['stdout'], line: string): string {
  if (/^(?:\+\+\+|---) /.test(line)) return paint(stdout, 'bold', line);
  if (line.startsWith('@@')) return paint(stdout, 'cyan', line);
  if (line.startsWith('+')) return paint(stdout, 'green', line);
  return line.startsWith('-') ? paint(stdout, 'red', line) : line;
}
