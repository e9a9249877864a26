import { mapMarkup } from './map-markup.ts';

type Rgb = readonly [number, number, number];

const maxDepth = 10;
const declaration = /(?<=[\s;"{])(--[\w-]+)\s*:\s*([^;}"]+);?/g;
/** Attributes that have colors. Others may have texts of the diagram. */
const painting = /\s(?:style|fill|stroke|color|stop-color)="[^"]*"/g;

/**
 * Replaces the variables and mixed colors of a stylesheet by plain colors: `var(--x, fallback)` and
 * `color-mix(in srgb, A 60%, B)`. Programs that know neither paint such shapes black.
 */
export function resolveColors(svg: string): string {
  const values = new Map<string, string>();
  const declared = mapStyles(svg, (style) =>
    style.replaceAll(declaration, (_, name: string, value: string) => {
      values.set(name, value.trim());
      return '';
    }),
  );
  const resolved = mapStyles(declared, (style) => replaceFunctions(style, (call) => toColor(call, values, 0)));
  return mapMarkup(resolved, (markup) => (markup.startsWith('<style>') ? tidyStyles(markup) : markup));
}

/** Changes the stylesheets and the painting attributes of an SVG. */
function mapStyles(svg: string, change: (style: string) => string): string {
  return mapMarkup(svg, (markup) =>
    markup.startsWith('<style>') ? change(markup) : markup.replaceAll(painting, change),
  );
}

/** Removes comments, and rules that have become empty. */
function tidyStyles(styles: string): string {
  return styles.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/[\w.#-]+\s*\{\s*\}/g, '');
}

/** Replaces each outermost call of `var` and `color-mix`. Both may contain calls. */
function replaceFunctions(text: string, replace: (call: string) => string): string {
  const parts: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(/\b(?:var|color-mix)\(/g)) {
    if (index < end) continue;
    const close = closingOf(text, text.indexOf('(', index));
    parts.push(text.slice(end, index), replace(text.slice(index, close)));
    end = close;
  }
  return [...parts, text.slice(end)].join('');
}

function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '(') depth += 1;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Returns a color in hex, or the text itself if it is no call. */
function toColor(text: string, values: ReadonlyMap<string, string>, depth: number): string {
  const value = text.trim();
  if (depth > maxDepth) return '#000000';
  const [, variable, fallback] = /^var\(\s*(--[\w-]+)\s*(?:,(.*))?\)$/s.exec(value) ?? [];
  if (variable !== undefined) return toColor(values.get(variable) ?? fallback ?? '#000000', values, depth + 1);
  const [, mixed] = /^color-mix\(\s*in srgb\s*,(.*)\)$/s.exec(value) ?? [];
  return mixed === undefined ? value : mix(splitArguments(mixed), values, depth + 1);
}

function mix([one = '', other = '']: readonly string[], values: ReadonlyMap<string, string>, depth: number): string {
  const [, color = one, share] = /^(.*\S)\s+([\d.]+)%$/s.exec(one.trim()) ?? [];
  const [, second = other] = /^(.*\S)\s+[\d.]+%$/s.exec(other.trim()) ?? [];
  const part = share === undefined ? 0.5 : Number(share) / 100;
  const [a, b] = [color, second].map((each) => toRgb(toColor(each, values, depth)));
  return toHex([0, 1, 2].map((index) => (a?.[index] ?? 0) * part + (b?.[index] ?? 0) * (1 - part)));
}

/** Splits at commas outside of parentheses. */
function splitArguments(text: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const letter of text) {
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (letter === ',' && depth === 0) parts.push('');
    else parts.push((parts.pop() ?? '') + letter);
  }
  return parts;
}

function toRgb(color: string): Rgb {
  const [, hex = '000000'] = /^#([\da-f]{6}|[\da-f]{3})$/i.exec(color.trim()) ?? [];
  const whole = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  return [0, 2, 4].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as unknown as Rgb;
}

function toHex(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
