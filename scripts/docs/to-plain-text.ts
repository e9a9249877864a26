import type { Token, Tokens } from 'marked';

const names: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** The words of a token without markup. */
export function toPlainText(token: Token | undefined): string {
  if (token === undefined) return '';
  return collect(token)
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (name) => names[name] ?? name)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function collect(token: Token): string {
  if (token.type === 'table') return collectTable(token as Tokens.Table);
  if (token.type === 'list') return (token as Tokens.List).items.map(collect).join(' ');
  if ('tokens' in token && token.tokens) return token.tokens.map(collect).join(token.type === 'list_item' ? ' ' : '');
  if (token.type === 'br' || token.type === 'space') return ' ';
  return 'text' in token && typeof token.text === 'string' ? token.text : '';
}

function collectTable({ header, rows }: Tokens.Table): string {
  return [header, ...rows].map((cells) => cells.flatMap(({ tokens }) => tokens.map(collect)).join(' ')).join(' ');
}
