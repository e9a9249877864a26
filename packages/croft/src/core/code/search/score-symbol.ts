import type { CodeSymbol } from '../code-symbol.ts';
import type { ParsedQuery, QueryTerm } from '../ports/code-index.ts';
import { splitWords, toSingular } from './split-words.ts';

/** Score of a term, by the place of its match. */
const weights = { name: 8, container: 2, signature: 2, path: 2, doc: 1, text: 0.5, partOfWord: 0.4 };

/** The fields of a definition that its score depends on. */
type ScoredSymbol = Pick<CodeSymbol, 'name' | 'kind' | 'containers' | 'signature' | 'doc' | 'isExported'>;

/** The title of a test is a sentence, which has more words of a query than the name of the code that it tests. */
const testFactor = 0.3;

interface Scored {
  readonly symbol: ScoredSymbol;
  readonly path: string;
  /** The terms in the lines of its body, by their index. */
  readonly bodyTerms: ReadonlySet<number>;
}

interface SymbolScore {
  readonly score: number;
  /** The definition answers every term of the query. */
  readonly isWhole: boolean;
}

/** Rates how well a definition answers a query. `rarity` has the worth of each term: a rare word says more. */
export function scoreSymbol(scored: Scored, query: ParsedQuery, rarity: readonly number[]): SymbolScore {
  const fields = toFields(scored);
  const worth = query.terms.map((term, index) => rateTerm(term, index, fields, scored.bodyTerms));
  const sum = worth.reduce((total, each, index) => total + each * (rarity[index] ?? 1), 0);
  const factor = nameFactor(scored.symbol.name, query) * coverage(worth) * fileFactor(scored.path, scored.symbol);
  return { score: sum * factor, isWhole: worth.every((each) => each > 0) };
}

interface Field {
  readonly weight: number;
  readonly words: ReadonlySet<string>;
  readonly text: string;
}

function toFields({ symbol, path }: Scored): Field[] {
  const field = (weight: number, text: string): Field => ({
    weight,
    words: new Set(splitWords(text).map(toSingular)),
    text: text.toLowerCase(),
  });
  return [
    field(weights.name, symbol.name),
    field(weights.container, symbol.containers.filter(isName).join(' ')),
    field(weights.signature, symbol.signature.slice(0, 500)),
    field(weights.path, path),
    field(weights.doc, (symbol.doc ?? '').slice(0, 500)),
  ];
}

/** The best field counts whole, the others a little: a word that stands everywhere is not worth five times as much. */
function rateTerm({ forms, isLiteral }: QueryTerm, index: number, fields: readonly Field[], body: ReadonlySet<number>) {
  const found = fields.map(({ weight, words, text }) => {
    const rate = (form: string, discount: number) => {
      if (!isLiteral && words.has(form)) return weight * discount;
      return text.includes(form) ? weight * discount * (isLiteral ? 1 : weights.partOfWord) : 0;
    };
    // Another form of the word is worth a little less than the word itself.
    return Math.max(...forms.map((form, at) => rate(form, at === 0 ? 1 : 0.8)));
  });
  const best = Math.max(...found);
  const rest = found.reduce((total, each) => total + each, 0) - best;
  return best + rest * 0.1 + (body.has(index) ? weights.text : 0);
}

function nameFactor(name: string, { joined, name: wanted, terms }: ParsedQuery): number {
  if (wanted === name) return 4;
  const plain = name.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
  if (joined !== '' && plain === joined) return 3;
  const words = new Set(splitWords(name).map(toSingular));
  if (terms.length > 1 && terms.every(({ forms }) => forms.some((form) => words.has(form)))) return 2;
  return joined !== '' && plain.startsWith(joined) ? 1.8 : 1;
}

/** A definition with all words of the query comes before one that has a single word very often. */
function coverage(worth: readonly number[]): number {
  const share = worth.filter((each) => each > 0).length / worth.length;
  return share * share;
}

/** False for the title of a test. */
function isName(container: string): boolean {
  return !container.includes(' ');
}

function fileFactor(path: string, { isExported, kind }: ScoredSymbol): number {
  return (isExported ? 1.2 : 1) * (kind === 'test' ? testFactor : 1) * pathFactor(path);
}

/** Tests, copies of other projects and generated files come later. */
export function pathFactor(path: string): number {
  if (/(?:^|\/)(?:node_modules|vendor|third_party|dist|build|target)\//.test(path) || /\.min\.\w+$/.test(path))
    return 0.2;
  return /(?:^|\/)(?:tests?|__tests__|spec|fixtures?)\/|[._-](?:test|spec)\.\w+$|(?:^|\/)test_\w+\.py$/.test(path)
    ? 0.6
    : 1;
}
