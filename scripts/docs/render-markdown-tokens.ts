import type { RendererObject } from 'marked';
import { escapeHtml } from './escape-html.ts';
import type { Heading } from './page-types.ts';
import { resolveLink, toAddress } from './resolve-link.ts';

export interface RenderOptions {
  readonly source: string;
  readonly headings: readonly Heading[];
  isPage(source: string): boolean;
  /** The file name of the picture of a Mermaid source. */
  drawingOf(code: string): string | undefined;
}

/** Renders what the site shows in another way than plain Markdown. Nothing in it needs a style or a script of its own. */
export function createRenderer({ source, isPage, headings, drawingOf }: RenderOptions): RendererObject {
  let next = 0;
  const addressOf = (link: string) => toAddress(resolveLink(source, link), isPage);
  return {
    heading({ depth, tokens }) {
      const anchor = headings[next++]?.anchor ?? '';
      const own = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
      return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)}${depth === 1 ? '' : own}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const address = addressOf(href);
      return address === undefined ? words : `<a href="${escapeHtml(address)}">${words}</a>`;
    },
    image({ href, text }) {
      return `<img src="${escapeHtml(addressOf(href) ?? href)}" alt="${escapeHtml(text)}" loading="lazy">`;
    },
    code({ text, lang = '' }) {
      const drawing = lang === 'mermaid' ? drawingOf(text) : undefined;
      return drawing === undefined ? toBlock(text, lang) : toFigure(text, drawing);
    },
    table({ header, rows }) {
      const head = header.map(({ tokens }) => `<th scope="col">${this.parser.parseInline(tokens)}</th>`).join('');
      const toRow = (cells: typeof header) =>
        `<tr>${cells.map(({ tokens }) => `<td>${this.parser.parseInline(tokens)}</td>`).join('')}</tr>\n`;
      const body = rows.map(toRow).join('');
      return `<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${head}</tr></thead>\n<tbody>\n${body}</tbody></table></div>\n`;
    },
  };
}

/** A block that no test runs says so, and why: ```sh not-run="needs Docker". */
export function readNotRun(info: string): string | undefined {
  return /\bnot-run="([^"]+)"/.exec(info)?.[1];
}

function toBlock(text: string, info: string): string {
  const [language = ''] = info.split(' ');
  const reason = readNotRun(info);
  const note = reason === undefined ? '' : `<figcaption>Not run by the tests: ${escapeHtml(reason)}.</figcaption>`;
  const kind = language === '' ? '' : ` data-language="${escapeHtml(language)}"`;
  return `<figure class="code"><pre${kind} tabindex="0"><code>${escapeHtml(text)}</code></pre>${note}</figure>\n`;
}

function toFigure(source: string, name: string): string {
  const words = '<details><summary>The diagram as text</summary>';
  const text = `${words}<pre><code>${escapeHtml(source)}</code></pre></details>`;
  return `<figure class="diagram"><img src="images/${name}" alt="Diagram; its text is below">${text}</figure>\n`;
}
