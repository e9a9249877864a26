import { splitWords, toSingular } from '../core/code/search/split-words.ts';
import type { DigestedSymbol, FileDigest } from '../core/code/syntax.ts';
import type { IndexDatabase } from './index-database.ts';
import { packMentions, packSymbols } from './pack-symbols-and-mentions.ts';
import { isDistinctiveWord, toPathWords } from './words-to-index.ts';

/** A file as it was read. */
export interface ReadFile {
  readonly path: string;
  /** The number of the change for which it was read. */
  readonly change: number;
  /** Modification time by the last listing; 0 if it is not certain. */
  readonly time: number;
  /**
   * The `FileDigest` of the file as JSON. Absent: the file has nothing to index. `gone`: the path is no file any more.
   */
  readonly digest?: string | 'gone' | undefined;
}

/**
 * Replaces the rows of these files in the index. Skips files that were never listed, that another program has read for
 * the same change, and that have changed since they were read.
 */
export function storeReadFiles(index: IndexDatabase, files: readonly ReadFile[]): void {
  index.write(() => {
    for (const file of files) {
      const id = index.prepare('SELECT id FROM files WHERE path = ? AND due = ?').get(file.path, file.change)?.id;
      if (typeof id !== 'number') continue;
      removeWords(index, id);
      if (file.digest === 'gone') index.prepare('DELETE FROM files WHERE id = ?').run(id);
      else storeDigest(index, id, file);
    }
  });
}

export function removeFile(index: IndexDatabase, id: number): void {
  removeWords(index, id);
  index.prepare('DELETE FROM files WHERE id = ?').run(id);
}

function removeWords(index: IndexDatabase, id: number): void {
  const { first, count } = index.prepare('SELECT first, count FROM files WHERE id = ?').get(id) ?? {};
  const last = Number(first) + Number(count) - 1;
  if (typeof first === 'number') index.prepare('DELETE FROM symbol_words WHERE rowid BETWEEN ? AND ?').run(first, last);
  index.prepare('DELETE FROM file_words WHERE rowid = ?').run(id);
}

function storeDigest(index: IndexDatabase, id: number, { path, time, digest }: ReadFile): void {
  const { language, symbols, words, text }: FileDigest =
    digest === undefined ? { symbols: [], words: [], text: '' } : JSON.parse(digest);
  // Without the numbers of the file itself, whose words are removed.
  index.prepare('UPDATE files SET first = NULL WHERE id = ?').run(id);
  const first = symbols.length === 0 ? null : nextNumber(index);
  const packed = packSymbols(symbols);
  index
    .prepare(
      'UPDATE files SET time = ?, due = 0, language = ?, symbols = ?, mentions = ?, first = ?, count = ? WHERE id = ?',
    )
    .run(time, language ?? null, packed, packMentions(words, packed), first, symbols.length, id);
  const pathWords = toPathWords(path);
  const insert = index.prepare(
    'INSERT INTO symbol_words (rowid, name, parts, container, signature, doc, path) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const [number, symbol] of symbols.entries()) insert.run((first ?? 0) + number, ...toColumns(symbol, pathWords));
  index
    .prepare('INSERT INTO file_words (rowid, words) VALUES (?, ?)')
    .run(id, `${text} ${[...new Set(toWords(path))].join(' ')}`);
}

/** The number after that of every definition. */
function nextNumber(index: IndexDatabase): number {
  const last = index.prepare('SELECT first, count FROM files WHERE first NOT NULL ORDER BY first DESC LIMIT 1').get();
  return last ? Number(last.first) + Number(last.count) : 1;
}

/** A name without signs, in lower case: `parse_config` and `parseConfig` are both `parseconfig`. */
function toPlain(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

/**
 * The words of a definition for each column, and each word only in the column that weighs most: how often a short text
 * has a word says nothing. Words that say nothing about code are a third of all words, and count in names only.
 */
function toColumns({ name, containers, signature, doc }: DigestedSymbol, pathWords: readonly string[]): string[] {
  const plain = toPlain(name);
  const seen = new Set([plain]);
  const take = (words: readonly string[]) => {
    const fresh = [...new Set(words)].filter((word) => !seen.has(word));
    for (const word of fresh) seen.add(word);
    return fresh.join(' ');
  };
  const [parts, container] = [take(toWords(name)), take(toWords(containers.join(' ')))];
  const [shown, path] = [take(toWords(signature).filter(isDistinctiveWord)), take(pathWords)];
  return [plain, parts, container, shown, take(toWords(doc).filter(isDistinctiveWord)), path];
}

function toWords(text: string): string[] {
  return splitWords(text).map(toSingular);
}
