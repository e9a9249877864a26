import { mapMarkup } from './map-markup.ts';

/**
 * Removes everything from a drawn SVG that would make a viewer load or open something: links, pictures, scripts, fonts
 * and stylesheets of the web. What remains refers only to itself (`#id`).
 */
export function removeLinks(svg: string): string {
  const plain = svg.replaceAll(/<!--.*?-->|<!DOCTYPE[^>]*>|<\?(?!xml ).*?\?>/gs, '');
  return mapMarkup(plain, cleanMarkup)
    .replaceAll(/\n\s*\n/g, '\n')
    .trimStart();
}

const loading = /^<\/?(?:a|image|script|foreignObject|iframe)\b/i;
const link = /\s(?:xlink:)?(?:href|title|actuate|show)\s*=\s*(?:"(?!#)[^"]*"|'(?!#)[^']*')/gi;
const handler = /\son\w+\s*=\s*(?:"[^"]*"|'[^']*')/gi;
const address = /url\((?!\s*(?:['"]|&quot;|&apos;|&#39;)?#)[^)"]*\)?/gi;

function cleanMarkup(markup: string): string {
  if (loading.test(markup)) return '';
  return markup
    .replaceAll(/@import[^;]*;(?:[^;\n]*;)*/g, '')
    .replaceAll(link, '')
    .replaceAll(handler, '')
    .replaceAll(address, 'none');
}
