import type { Section } from './contents.ts';
import { escapeHtml } from './escape-html.ts';
import type { Page } from './page-types.ts';

const mark = 'M10 2H4a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2V6M6 7v3M10 7v3';
const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16' fill='none' stroke='#2f6feb' stroke-width='2' stroke-linecap='round'><path d='${mark}'/></svg>`,
  );

export interface Site {
  readonly sections: readonly Section[];
  readonly pages: ReadonlyMap<string, Page>;
}

/** The document of one page. It has no style and no script of its own, so that the strictest policy can hold. */
export function writeHtml(page: Page, site: Site): string {
  const name = page.name === 'index' ? 'Croft' : `${page.title} · Croft`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(name)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="description" content="${escapeHtml(page.summary)}">
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="site.css">
<link rel="alternate" type="text/markdown" href="${page.name}.md">
<script src="site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
${header}
<div class="columns">
<main id="content"><article>
${page.html}</article>
${writeNeighbours(page, site)}
</main>
${writeOutline(page)}
${writeNavigation(page, site)}
</div>
</body>
</html>
`;
}

const header = `<header class="top">
<a class="brand" href="index.html"><svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="${mark}"></path></svg><span>Croft</span></a>
<span class="here">Docs</span>
<search class="find" hidden><input type="search" placeholder="Search  /" aria-label="Search the documentation" aria-controls="found" autocomplete="off" spellcheck="false"><div id="found" hidden></div></search>
<button class="theme" type="button" hidden>Theme</button>
<a class="all-pages" href="#pages">Pages</a>
</header>`;

function writeNavigation({ source }: Page, { sections, pages }: Site): string {
  const groups = sections.map(({ title, sources }) => {
    const rows = sources.flatMap((one) => pages.get(one) ?? []).map((page) => toRow(page, page.source === source));
    return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${rows.join('\n')}\n</ul>`;
  });
  return `<nav id="pages" aria-label="Pages">\n${groups.join('\n')}\n</nav>`;
}

function toRow({ name, title }: Page, isHere: boolean): string {
  const here = isHere ? ' aria-current="page"' : '';
  return `<li><a href="${name}.html"${here}>${escapeHtml(name === 'index' ? 'What Croft is' : title)}</a></li>`;
}

function writeOutline({ headings }: Page): string {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return '';
  const rows = shown.map(({ anchor, text }) => `<li><a href="#${anchor}">${escapeHtml(text)}</a></li>`);
  return `<nav class="outline" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${rows.join('\n')}\n</ul>\n</nav>`;
}

function writeNeighbours({ source, name }: Page, { sections, pages }: Site): string {
  const order = sections.flatMap(({ sources }) => sources).flatMap((one) => pages.get(one) ?? []);
  const at = order.findIndex((page) => page.source === source);
  const toLink = (page: Page | undefined, words: string) =>
    page ? `<a href="${page.name}.html"><span>${words}</span> ${escapeHtml(page.title)}</a>` : '<span></span>';
  const links = `${toLink(order[at - 1], 'Before')}${toLink(order[at + 1], 'Next')}`;
  return `<nav class="neighbours" aria-label="Before and after">${links}</nav>
<p class="source"><a href="${name}.md">This page as Markdown</a></p>`;
}
