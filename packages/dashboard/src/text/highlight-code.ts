/** A piece of code and its kind, found without knowing the language. */
interface CodePiece {
  readonly text: string;
  readonly kind: 'plain' | 'keyword' | 'string' | 'number' | 'comment';
}

const keywords = new Set(
  (
    'abstract and as assert async await begin break case catch class const continue crate declare def default defer ' +
    'del delete do elif else elsif end enum except export extends false final finally fn for foreach from func ' +
    'function go if impl implements import in instanceof interface is lambda let loop match mod module mut namespace ' +
    'new nil None not null object of or package pass private protected protocol pub public raise readonly return ' +
    'select self static struct super switch then this throw trait true True False try type typeof union unless until ' +
    'use using val var void when where while with yield'
  ).split(' '),
);

const hashComments =
  /\.(?:py|rb|sh|bash|zsh|ya?ml|toml|tf|mk|pl|r|jl|nix|cfg|conf|ini)$|(?:^|\/)(?:Makefile|Dockerfile|\.[\w.]*rc|\.gitignore)$/i;
const plainText = /\.(?:md|markdown|txt|log|csv|tsv|rst|lock)$|(?:^|\/)(?:LICENSE|NOTICE|README|CHANGELOG)$/i;

const token =
  /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$)|^\s*\*(?:\s.*|\/.*)?$|<!--.*?(?:-->|$)|--\s.*)|(?<hash>#.*)|(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\\s]|\\.)(?:[^'\\]|\\.)*'|''|`(?:[^`\\]|\\.)*`?)|(?<number>\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\w*\b)|(?<word>[\p{L}_$][\p{L}\p{N}_$]*)/giu;

const longestLine = 2000;

/** Splits one line into coloured pieces. Only visible lines are split, so a long file costs little. */
export function toCodePieces(line: string, path: string): CodePiece[] {
  if (line.length > longestLine || plainText.test(path)) return [{ text: line, kind: 'plain' }];
  const hasHashComments = hashComments.test(path);
  const pieces: CodePiece[] = [];
  let end = 0;
  for (const match of line.matchAll(token)) {
    const kind = kindOf(match, hasHashComments);
    if (kind === undefined) continue;
    if (match.index > end) pieces.push({ text: line.slice(end, match.index), kind: 'plain' });
    pieces.push({ text: match[0], kind });
    end = match.index + match[0].length;
  }
  if (end < line.length) pieces.push({ text: line.slice(end), kind: 'plain' });
  return pieces;
}

function kindOf({ 0: text, groups = {} }: RegExpMatchArray, hasHashComments: boolean): CodePiece['kind'] | undefined {
  if (groups.comment !== undefined) return 'comment';
  if (groups.hash !== undefined) return hasHashComments ? 'comment' : undefined;
  if (groups.string !== undefined) return 'string';
  if (groups.number !== undefined) return 'number';
  return keywords.has(text) ? 'keyword' : undefined;
}
