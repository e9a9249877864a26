import { measureRandomness } from './looks-random.ts';

/** Shorter values are not searched: they are in too many ordinary words and numbers. */
export const minSecretChars = 6;

/** A piece of a random value that is too long to be there by chance. */
const pieceChars = 16;
const pieceStep = 4;
/** Of any other value, in base64 and as it is: parts of it, such as a server's name, are no secret. */
const encodedPieceChars = 32;
const blockChars = 64;
const manyChars = 512;
const maxTokens = 200;

/**
 * The strings to search for so that `value` is found in plain, JSON-escaped, URL-encoded and base64 form. Of a value
 * that looks random, or any in base64, also the pieces of which every longer part of it consists: output that is
 * cut, wrapped or indented shows a secret in part. None for a value of less than six characters.
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
    // As Go and PHP write it, and as Python does.
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

/** What of the base64 form does not depend on the bytes around, for each of the three places in a group of bytes. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const from = Math.ceil((before * 8) / 6);
    const to = Math.floor((padded.length * 8) / 6);
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
}

/** Of a value with several lines or fields, such as a key file: those that are secret for themselves. */
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
