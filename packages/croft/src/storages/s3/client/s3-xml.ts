/** Reads and writes the XML of S3: flat elements without attributes that matter. Not a general parser. */

/** The namespace of every document that S3 takes. */
export const namespace = 'http://s3.amazonaws.com/doc/2006-03-01/';

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of the first element with this name, or an empty string. */
export function readElement(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`) + name.length + 2;
  const end = xml.indexOf(`</${name}>`, start);
  return start < name.length + 2 || end === -1 ? '' : unescapeText(xml.slice(start, end));
}

/** The insides of all elements with this name. */
export function splitElements(xml: string, name: string): string[] {
  return xml.split(`<${name}>`).slice(1);
}

/** Control characters are escaped too: a parser would otherwise change line ends. */
export function escapeText(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\u2028]/gu, (mark) => `&#${mark.codePointAt(0)};`);
}

function unescapeText(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}
