import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const fileBytes = 2048;
const filesPerDirectory = 20;

/** Files of 2 kB in directories of twenty, three levels deep. Knows what each should hold. */
export interface Tree {
  readonly directory: string;
  readonly paths: readonly string[];
  /** The revision a file is at; `next` counts it up. */
  revisionOf(path: string): number;
  next(path: string): number;
  /** Throws for a file that does not hold its revision. */
  check(): void;
}

/** Makes a directory for all trees of one run. It is removed at the end, also after a failure. */
export function makeScratch(parent = tmpdir()) {
  const path = realpathSync(mkdtempSync(join(parent, 'croft-bench-')));
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', remove);
  return { path, [Symbol.dispose]: remove };
}

export function makeTree(directory: string, count: number): Tree {
  const paths = Array.from({ length: count }, (_, index) => join(directory, toName(index)));
  const revisions = new Map(paths.map((path) => [path, 0]));
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, toSource(0));
  }
  const revisionOf = (path: string) => revisions.get(path) ?? 0;
  return {
    directory,
    paths,
    revisionOf,
    next(path) {
      const revision = revisionOf(path) + 1;
      revisions.set(path, revision);
      return revision;
    },
    check() {
      for (const path of revisions.keys()) {
        if (readFileSync(path, 'utf8') !== toSource(revisionOf(path)))
          throw new Error(`${path} is not at revision ${revisionOf(path)}`);
      }
    },
  };
}

/** Path of the file with this number, from the directory. */
export function toName(index: number): string {
  const group = Math.floor(index / filesPerDirectory);
  return `src/area-${Math.floor(group / 10)}/part-${group % 10}/file-${index}.ts`;
}

/** The one line in which two revisions of a file differ. */
export function revisionLine(revision: number): string {
  return `export const revision = ${String(revision).padStart(8, '0')};`;
}

export function toSource(revision: number): string {
  let text = `${revisionLine(revision)}\n`;
  for (let line = 1; text.length < fileBytes; line++) text += `export const value${line} = compute(${line}, 'text');\n`;
  return `${text.slice(0, fileBytes - 1)}\n`;
}

const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2035054128: 'overlay',
  2435016766: 'btrfs',
};

export function fileSystemOf(path: string): string {
  const { type } = statfsSync(path);
  return fileSystems[type] ?? `type 0x${type.toString(16)}`;
}
