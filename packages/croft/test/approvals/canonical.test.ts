import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/approvals/canonical-json.ts';
import { toVisible } from '../../src/core/approvals/visible-text.ts';
import { stripControlSequences } from '../../src/lib/text/strip-control-sequences.ts';

/** The same numbers every time (mulberry32), so that what fails can be seen again. */
function createRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { below: (max: number) => Math.floor(next() * max) };
}

type Random = ReturnType<typeof createRandom>;

const texts = ['', 'a', '1', 'é', 'e\u0301', '\ud800', '__proto__', 'constructor', 'toJSON', '"', '\\', '😀', '\0'];
// Not a backslash alone: where V8 13.6 has seen one, it reads every key of one escape as one.
const names = texts.filter((text) => text !== '\\');
const numbers = [0, -0, 1, -1, 0.1, 1e21, 1e-7, 2 ** 53, Number.MIN_VALUE, Number.MAX_VALUE];

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}

function makeValue(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 3 ? 4 : 6);
  if (kind === 0) return pick(random, [null, true, false]);
  if (kind === 1) return pick(random, numbers);
  if (kind <= 3) return pick(random, texts);
  const inner = Array.from({ length: random.below(4) }, () => makeValue(random, depth + 1));
  return kind === 4 ? inner : Object.fromEntries(inner.map((value) => [pick(random, names), value]));
}

/** The same value with the keys of every object in another order. */
function shuffle(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffle(random, item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => ({ key, inner, at: random.below(1000) }));
  entries.sort((one, other) => one.at - other.at);
  return Object.fromEntries(entries.map(({ key, inner }) => [key, shuffle(random, inner)]));
}

/** Whether a tool could tell them apart, said in another way than by a text. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && isSame(get(one, key), get(other, key)));
}

function get(object: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value;
}

test('a value has one text, whatever the order of its keys, and two values have two texts', () => {
  const random = createRandom(20261116);
  const values = Array.from({ length: 5000 }, () => makeValue(random));
  for (const value of values) expect(canonicalJson(shuffle(random, value))).toBe(canonicalJson(value));
  const byText = new Map<string, unknown>();
  for (const value of values) {
    const text = canonicalJson(value);
    const first = byText.get(text);
    if (byText.has(text)) expect(isSame(first, value), text).toBe(true);
    else byText.set(text, value);
  }
  expect(byText.size).toBeGreaterThan(500);
});

test('the text is JSON of the same value', () => {
  const random = createRandom(7);
  for (let round = 0; round < 500; round += 1) {
    const value = makeValue(random);
    expect(isSame(JSON.parse(canonicalJson(value)), value), canonicalJson(value)).toBe(true);
  }
});

describe('similar values stay different', () => {
  test.each([
    [1, '1'],
    [0, -0],
    [null, 'null'],
    [true, 'true'],
    ['é', 'e\u0301'],
    ['ﬁ', 'fi'],
    ['A', 'Α'],
    ['\ud800', '\udbff'],
    ['\ud800', '\ufffd'],
    ['\ud800', '\\ud800'],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [['a,b'], ['a', 'b']],
    [{ a: null }, {}],
    [{ a: 1 }, { a: '1' }],
    [JSON.parse('{"__proto__":1}'), {}],
    [{ a: { b: 1 } }, { a: {}, b: 1 }],
  ])('%j and %j', (one, other) => {
    expect(canonicalJson(one)).not.toBe(canonicalJson(other));
  });
});

test('an undefined argument equals an omitted one', () => {
  expect(canonicalJson({ a: 1, b: undefined })).toBe(canonicalJson({ a: 1 }));
});

test.each([
  ['NaN', { a: Number.NaN }],
  ['no end of numbers', [Number.POSITIVE_INFINITY]],
  ['undefined in a list', [undefined]],
  ['a hole in a list', new Array(1)],
  ['a bigint', { a: 1n }],
  ['a function', { toJSON: () => 'harmless' }],
  ['a map', { a: new Map([['b', 1]]) }],
  ['a date', new Date(0)],
  ['bytes', new Uint8Array(2)],
  ['an instance', Object.create({ a: 1 })],
  ['a hundred thousand brackets', JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))],
])('%s is refused', (_, value) => {
  expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'E_INVALID_INPUT' }));
});

test('a text made visible has no character left that would change a terminal', () => {
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const visible = toVisible(`a${String.fromCharCode(unit)}b`);
    if (stripControlSequences(visible) !== visible) expect.fail(`U+${unit.toString(16)}`);
  }
  expect(toVisible('plain é 漢字 😀\n\tx')).toBe('plain é 漢字 😀\n\tx');
});
