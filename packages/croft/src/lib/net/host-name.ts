import { domainToASCII } from 'node:url';
import { formatAddress, parseAddress } from './ip-address.ts';

/** Characters that `domainToASCII` would read as a delimiter, decode or drop. */
const notInNames = /[\p{Cc}\s%/\\?#@:[\]<>^|"'`*]/u;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A host name may not end with such a label, because URL parsers and `inet_aton` read it as an IPv4 address. */
const numericLabel = /^(?:\d+|0x[0-9a-f]*)$/;

/**
 * Returns the canonical spelling of a host: lower case, no trailing dot, IDN as ASCII, IPv6 compressed and without
 * brackets. Returns `undefined` for a text that is no host or hides an address: `0177.0.0.1`, `2130706433`,
 * `[example.com]`, `fe80::1%lo`.
 */
export function canonicalHost(text: string): string | undefined {
  const bracketed = /^\[([0-9a-f:.]*:[0-9a-f:.]*)\]$/i.exec(text)?.[1];
  const address = parseAddress(bracketed ?? text);
  if (address !== undefined) return formatAddress(address);
  return bracketed === undefined ? canonicalName(text) : undefined;
}

export function isAddress(host: string): boolean {
  return parseAddress(host) !== undefined;
}

function canonicalName(text: string): string | undefined {
  if (text.length > 255 || notInNames.test(text)) return undefined;
  const name = domainToASCII(text).replace(/\.$/, '');
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((part) => label.test(part))) return undefined;
  return numericLabel.test(labels.at(-1) ?? '') ? undefined : name;
}
