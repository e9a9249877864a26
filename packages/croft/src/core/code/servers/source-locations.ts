import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { Files } from '../../files/files.ts';
import { fromUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import type { Location } from '../ports/protocol-schemas.ts';
import { readSource, type SourceText, textIn } from '../ports/source-text.ts';

/** A location in a source file, as tools return it. */
export const SourceLocation = z.object({
  path: z.string(),
  line: z.int(),
  col: z.int(),
  text: z.string().describe('The line, without its indentation'),
  external: z.literal(true).optional().describe('Outside the workspace: path is that of the sandbox'),
  in: z.string().optional().describe('The definition around it'),
  body: z.string().optional(),
});
export type SourceLocation = z.output<typeof SourceLocation>;

/** How the locations were found: by a language server, by a parser, or by the text alone. */
export const precision = z.enum(['server', 'syntax', 'text']);

export const answerFields = {
  precision,
  complete: z.boolean().describe('False: there may be more; the notes say why'),
  notes: z.array(z.string()),
};

const maxText = 160;

interface LocatedSources {
  readonly located: readonly SourceLocation[];
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

/** Converts the locations of a server, and checks that each range is in the current file. */
export async function toSourceLocations(
  { root }: Pick<LanguageServer, 'root'>,
  locations: readonly Location[],
  read: ReturnType<typeof createSourceReader>,
): Promise<LocatedSources> {
  const [located, files, misfits] = [new Map<string, SourceLocation>(), new Set<string>(), new Set<string>()];
  for (const { uri, range } of locations) {
    const target = fromUri(root, uri);
    if (!target) continue;
    const [line, col] = [range.start.line + 1, range.start.character + 1];
    if ('external' in target) {
      located.set(`${uri}:${line}:${col}`, { path: target.external, line, col, text: '', external: true });
      continue;
    }
    const { path } = target;
    files.add(path);
    const source = await read(path);
    if (source && textIn(source, range) === undefined) misfits.add(path);
    located.set(`${uri}:${line}:${col}`, { path, line, col, text: lineText(source, line) });
  }
  return { located: [...located.values()], files, misfits };
}

function lineText(source: SourceText | undefined, line: number): string {
  return (source?.lines[line - 1] ?? '').trim().slice(0, maxText).toWellFormed();
}
