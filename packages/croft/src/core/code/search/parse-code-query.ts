import { AppError } from '@croft/protocol';
import type { ParsedQuery } from '../ports/code-index.ts';
import { splitWords, toSingular } from './split-words.ts';

const maxTerms = 12;
/** Words of questions, which say nothing about code. */
const stopWords = new Set(
  (
    'a an and are as at be by do does for from how i in into is it its of on or our that the their there this to what when ' +
    'where which who why with'
  )
    .split(' ')
    .map((word) => toSingular(word)),
);
/** Pairs of a short and a long form that code uses for one idea. */
const pairs =
  'arg/argument async/asynchronous attr/attribute auth/authentication auth/authorization buf/buffer cfg/config cmd/command ' +
  'config/configuration conn/connection ctx/context db/database del/delete dep/dependency dest/destination dir/directory doc/document ' +
  'elem/element env/environment err/error exec/execute expr/expression ext/extension fmt/format fn/function gen/generate ' +
  'id/identifier idx/index impl/implementation info/information init/initialize iter/iterator len/length lib/library ' +
  'max/maximum mem/memory min/minimum msg/message num/number obj/object param/parameter perm/permission pkg/package ' +
  'pos/position prev/previous proc/process prop/property pwd/password ref/reference regex/regexp repo/repository ' +
  'req/request res/response spec/specification src/source str/string sync/synchronize temp/tmp util/utility val/value ' +
  'var/variable';
const sameMeaning = toMeanings(pairs);

/** Throws `E_INVALID_INPUT` for a query without a word. */
export function parseCodeQuery(query: string): ParsedQuery {
  const quoted = [...query.matchAll(/"([^"]+)"/g)].map(([, text = '']) => text.toLowerCase());
  const plain = query.replace(/"[^"]*"/g, ' ');
  const words = [...new Set(splitWords(plain).map(toSingular))];
  const significant = words.filter((word) => !stopWords.has(word) && (word.length > 1 || /\p{Lo}/u.test(word)));
  const chosen = significant.length > 0 || quoted.length > 0 ? significant : words;
  const terms = [
    ...quoted.map((text) => ({ forms: [text], isLiteral: true })),
    ...chosen.map((word) => ({ forms: [word, ...(sameMeaning.get(word) ?? [])], isLiteral: false })),
  ].slice(0, maxTerms);
  if (terms.length === 0) throw new AppError('E_INVALID_INPUT', 'query is required: it has no word to look for');
  const name = /^\s*[\p{L}_$][\p{L}\p{N}_$.:/#-]*\s*$/u.test(query) ? query.trim() : undefined;
  return { terms, joined: plain.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase(), name };
}

function toMeanings(text: string): ReadonlyMap<string, readonly string[]> {
  const meanings = new Map<string, string[]>();
  const add = (word: string, other: string) => meanings.set(word, [...(meanings.get(word) ?? []), other]);
  for (const pair of text.split(' ')) {
    const [short = '', long = ''] = pair.split('/');
    add(short, long);
    add(long, short);
  }
  return meanings;
}
