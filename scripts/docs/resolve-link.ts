import { posix } from 'node:path';
import { nameOf } from './contents.ts';

/** The target of a link of a page. */
export type LinkTarget =
  | { readonly kind: 'web'; readonly address: string }
  | { readonly kind: 'page'; readonly source: string; readonly anchor: string }
  | { readonly kind: 'file'; readonly path: string };

/** `path` of a file is from the root of the repository. */
export function resolveLink(source: string, link: string): LinkTarget {
  if (/^[a-z]+:/i.test(link)) return { kind: 'web', address: link };
  const [path = '', anchor = ''] = link.split('#');
  if (path === '') return { kind: 'page', source, anchor };
  const target = posix.join(posix.dirname(source), path);
  return target.endsWith('.md') ? { kind: 'page', source: target, anchor } : { kind: 'file', path: target };
}

/** The files besides pages that are part of the site, by their path in the repository. */
export function siteFileOf(path: string): string | undefined {
  if (path === 'openapi.json') return path;
  return path.startsWith('docs/images/') ? path.replace('docs/', '') : undefined;
}

/** Leads the links of a Markdown file to the Markdown files of the site. Code stays as it is. */
export function moveLinks(source: string, markdown: string, isPage: (source: string) => boolean): string {
  const parts = markdown.split(/(^```[\s\S]*?^```|`[^`\n]*`)/m);
  const move = (whole: string, link: string) => {
    const address = toAddress(resolveLink(source, link), isPage);
    return address === undefined ? whole : `](${address.replace(/\.html(?=#|$)/, '.md')})`;
  };
  return parts.map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/\]\(([^)\s]+)\)/g, move))).join('');
}

/** The address on the site. `undefined` for a file that only the repository has: the site shows its path. */
export function toAddress(target: LinkTarget, isPage: (source: string) => boolean): string | undefined {
  if (target.kind === 'web') return target.address;
  if (target.kind === 'file') return siteFileOf(target.path);
  if (!isPage(target.source)) return undefined;
  return `${nameOf(target.source)}.html${target.anchor && `#${target.anchor}`}`;
}
