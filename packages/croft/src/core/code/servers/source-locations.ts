import { AppError } from '@croft/protocol';
import type { Files } from '../../files/files.ts';
import type { SourceLocation } from '../ports/code-answers.ts';
import { fromUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import type { Location } from '../ports/protocol-schemas.ts';
import { readSource, type SourceText, textIn } from '../ports/source-text.ts';

const maxText = 160;

interface ReadLocations {
  readonly found: readonly SourceLocation[];
  /** Paths of the workspace in the answer. */
  readonly files: ReadonlySet<string>;
  /** Paths for which a range is not in the file. */
  readonly misfits: ReadonlySet<string>;
}

/** Reads the sources of an answer, each once. */
export function createSourceReader(files: Pick<Files, 'read'>) {
  const known = new Map<string, Promise<SourceText | undefined>>();
  return (path: string): Promise<SourceText | undefined> => {
    const found = known.get(path) ?? readSource(files, path).catch(ignoreUnreadable);
    known.set(path, found);
    return found;
  };
}

function ignoreUnreadable(thrown: unknown): undefined {
  if (!AppError.is(thrown)) throw thrown;
}

/** Turns the locations of a server into locations of ours, and checks that each is in the file that is on the disk. */
export async function toSourceLocations(
  { root }: Pick<LanguageServer, 'root'>,
  locations: readonly Location[],
  read: ReturnType<typeof createSourceReader>,
): Promise<ReadLocations> {
  const [found, files, misfits] = [new Map<string, SourceLocation>(), new Set<string>(), new Set<string>()];
  for (const { uri, range } of locations) {
    const target = fromUri(root, uri);
    if (!target) continue;
    const [line, col] = [range.start.line + 1, range.start.character + 1];
    if ('external' in target) {
      found.set(`${uri}:${line}:${col}`, { path: target.external, line, col, text: '', external: true });
      continue;
    }
    const { path } = target;
    files.add(path);
    const source = await read(path);
    if (source && !fits(source, range)) misfits.add(path);
    found.set(`${uri}:${line}:${col}`, { path, line, col, text: lineText(source, line) });
  }
  return { found: [...found.values()], files, misfits };
}

/** A range that is not in the text, or begins within a word, is about another version of the file. */
function fits(source: SourceText, range: Location['range']): boolean {
  const start = source.offsetOf(range.start);
  if (start === undefined || textIn(source, range) === undefined) return false;
  return !/[\p{L}\p{N}_][\p{L}\p{N}_]/u.test(source.text.slice(Math.max(0, start - 1), start + 1)) || start === 0;
}

function lineText(source: SourceText | undefined, line: number): string {
  return (source?.lines[line - 1] ?? '').trim().slice(0, maxText).toWellFormed();
}
