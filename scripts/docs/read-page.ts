import { Marked, type Token, type Tokens } from 'marked';
import { nameOf } from './contents.ts';
import { drawDiagram } from './draw-diagrams.ts';
import { createAnchors } from './heading-anchors.ts';
import type { Code, Drawing, Heading, Page } from './page-types.ts';
import { createRenderer } from './render-markdown-tokens.ts';
import { toPlainText } from './to-plain-text.ts';

export interface ReadPage {
  readonly page: Page;
  readonly drawings: readonly Drawing[];
}

/** Reads one Markdown file and renders it. Throws for raw HTML: the policy of the site would not allow what it does. */
export async function readPage(source: string, text: string, isPage: (source: string) => boolean): Promise<ReadPage> {
  // An address in a text is text: a link is written as one.
  const marked = new Marked({ tokenizer: { url: () => undefined } });
  const markdown = text.replace(/^<!--.*?-->\n+/, '');
  const tokens = marked.lexer(markdown);
  const all = flatten(marked, tokens);
  const raw = all.find(({ type }) => type === 'html');
  if (raw) throw new Error(`${source}: raw HTML is not allowed: ${raw.raw.trim()}`);
  const diagrams = all.filter(isCodeBlock).filter(({ lang }) => lang === 'mermaid');
  const drawn = new Map(
    await Promise.all(diagrams.map(async (one) => [one.text, await drawDiagram(one.text)] as const)),
  );
  const headings = readHeadings(tokens);
  marked.use({ renderer: createRenderer({ source, isPage, headings, drawingOf: (code) => drawn.get(code)?.name }) });
  const page: Page = {
    ...{ source, name: nameOf(source), markdown, headings },
    title: headings[0]?.text ?? source,
    summary: toPlainText(tokens.find(({ type }) => type === 'paragraph')),
    html: marked.parser(tokens),
    links: all
      .filter((one): one is Tokens.Link | Tokens.Image => /^(?:link|image)$/.test(one.type))
      .map(({ href }) => href),
    codes: all.flatMap(toCode),
  };
  return { page, drawings: [...drawn.values()] };
}

function flatten(marked: Marked, tokens: Token[]): Token[] {
  const all = new Set<Token>();
  // The callback is synchronous.
  void marked.walkTokens(tokens, (token) => {
    all.add(token);
  });
  return [...all];
}

function isCodeBlock(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

function toCode(token: Token): Code[] {
  if (isCodeBlock(token)) return [{ text: token.text, info: token.lang ?? '' }];
  return token.type === 'codespan' ? [{ text: token.text, info: undefined }] : [];
}

function readHeadings(tokens: readonly Token[]): Heading[] {
  const toAnchor = createAnchors();
  const starts = tokens.flatMap((token, index) => (token.type === 'heading' ? [index] : []));
  return starts.map((start, index) => {
    const token = tokens[start] as Tokens.Heading;
    const below = tokens.slice(start + 1, starts[index + 1]);
    const text = toPlainText(token);
    return { depth: token.depth, text, anchor: toAnchor(text), body: below.map(toPlainText).join(' ').trim() };
  });
}
