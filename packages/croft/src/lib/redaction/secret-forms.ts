import { measureRandomness } from './measure-randomness.ts';

/** Shorter values are not searched for, because too many ordinary words and numbers contain them. */
export const minSecretChars = 6;

/** Length of a piece of a random value; longer than any chance match. */
const pieceChars = 16;
const pieceStep = 4;
/**
 * Lengths for any other value: of pieces in base64, and of blocks in plain form (`blockChars`). Shorter parts, such as
 * the name of a server, are not secret.
 */
const encodedPieceChars = 32;
const blockChars = 64;
const manyChars = 512;
const maxTokens = 200;

/**
 * Returns the strings to search for so that `value` is found in plain, JSON-escaped, URL-encoded and base64 form. For a
 * value that looks random, and for base64, these are overlapping pieces, because cut, wrapped or indented output shows
 * only parts of a secret. Returns none for a value of less than six characters.
 */
export function toSearchStrings(value: string): string[] {
  const secret = value.trim();
  if (secret.length < minSecretChars) return [];
  const texts = new Set([secret, ...jsonForms(secret), ...urlForms(secret)]);
  const parts = [
    ...[...texts].flatMap((text) => (isOpaque(text) ? toPieces(text, pieceChars) : toBlocks(text))),
    ...tokensIn(secret).flatMap((token) => toPieces(token, pieceChars)),
    ...base64Forms(secret).flatMap((text) => toPieces(text, isOpaque(secret) ? pieceChars : encodedPieceChars)),
  ];
  return [...new Set(parts)];
}

function jsonForms(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  return [
    plain,
    plain.replaceAll('/', '\\/'),
    // The escapes of Go and PHP, then those of Python.
    plain.replace(/[<>&\u2028\u2029]/g, toUnicodeEscape),
    plain.replace(/[\u007f-\uffff]/g, toUnicodeEscape),
  ];
}

function toUnicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function urlForms(value: string): string[] {
  const wellFormed = value.toWellFormed();
  const component = encodeURIComponent(wellFormed);
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const upperCase = [component, encodeURI(wellFormed), form, component.replace(/[!'()*]/g, toPercent)];
  return [...upperCase, ...upperCase.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

function toPercent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * Returns the part of the base64 form that does not depend on the bytes around the value, for each of the three
 * alignments.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((padded.length * 8) / 6);
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
}

/** Returns the parts of a value with several lines or fields, such as a key file, that are secret by themselves. */
function tokensIn(value: string): string[] {
  const tokens = value.split(/[\s"'`,;]+|\\n/).filter((token) => token !== value && isOpaque(token));
  return tokens.slice(0, maxTokens);
}

function isOpaque(text: string): boolean {
  return (
    text.length >= pieceChars + pieceStep && !/[^\w+/=.~-]/.test(text) && measureRandomness(text).changesPerChar >= 0.2
  );
}

function toPieces(text: string, chars: number): string[] {
  if (text.length < chars + 2 * pieceStep) return [text];
  return cut(text, chars, text.length > manyChars ? pieceChars : pieceStep);
}

function toBlocks(text: string): string[] {
  return text.length <= blockChars ? [text] : cut(text, blockChars, blockChars);
}

function cut(text: string, chars: number, step: number): string[] {
  const count = Math.ceil((text.length - chars) / step);
  return Array.from({ length: count + 1 }, (_, index) => {
    const start = Math.min(index * step, text.length - chars);
    return text.slice(start, start + chars);
  });
}
