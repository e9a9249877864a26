import type { GoldenLanguage } from '../golden.ts';

export const typescript: GoldenLanguage = {
  path: 'shop.ts',
  source: `import { log } from './log.ts';

/** A shop. */
@injectable()
export class Shop<T> extends Base {
  #count = 0;

  constructor(private readonly name: string) {
    super();
  }

  /** Adds one. */
  @log
  async add<K>(item: K): Promise<K> {
    return item;
  }

  get size(): number { return this.#count; }

  abstract close(): void;
}

export const double = (n: number) => n * 2;

export const later = async (n: number): Promise<number> => {
  return n;
};

export default function () {
  return 1;
}

function outer() {
  function inner() {
    return 1;
  }
  return inner;
}

function over(a: string): void;
function over(a: number): void;
function over(a: unknown) {
  use(a);
}

const limits = {
  most: 3,
  least: 1,
};

export interface Shape { area(): number }
type Id = string;
enum Color { Red }
`,
  outline: [
    ...['class Shop', 'field Shop.#count', 'constructor Shop.constructor', 'method Shop.add', 'method Shop.size'],
    ...['method Shop.close', 'function double', 'function later', 'function default', 'function outer'],
    ...['function outer.inner', 'function over', 'function over', 'function over', 'constant limits'],
    ...['interface Shape', 'method Shape.area', 'type Id', 'enum Color'],
  ],
  edits: [
    {
      ...{ edit: 'body', symbol: 'Shop.add', text: 'const x = item;\nif (x) {\n  go();\n}\nreturn x;' },
      from: '    return item;\n',
      to: '    const x = item;\n    if (x) {\n      go();\n    }\n    return x;\n',
    },
    {
      ...{ edit: 'body', symbol: 'Shop/size', text: 'return 7;' },
      from: '{ return this.#count; }',
      to: '{ return 7; }',
    },
    {
      ...{ edit: 'body', symbol: 'inner', text: 'return 2;' },
      from: '  function inner() {\n    return 1;\n',
      to: '  function inner() {\n    return 2;\n',
    },
    { ...{ edit: 'body', symbol: 'double', text: 'n + n' }, from: 'n * 2', to: 'n + n' },
    {
      ...{ edit: 'body', symbol: 'later', text: 'const text = `\nas it is\n`;\nreturn n + text.length;' },
      from: '  return n;\n',
      to: '  const text = `\nas it is\n`;\n  return n + text.length;\n',
    },
    {
      ...{ edit: 'body', symbol: 'default', text: '' },
      from: '{\n  return 1;\n}\n\nfunction outer',
      to: '{}\n\nfunction outer',
    },
    { ...{ edit: 'body', symbol: 'over', text: 'drop(a);' }, from: 'use(a);', to: 'drop(a);' },
    {
      ...{ edit: 'signature', symbol: 'Shop.add', text: 'async add<K>(item: K, count = 1): Promise<K>' },
      from: 'async add<K>(item: K): Promise<K>',
      to: 'async add<K>(item: K, count = 1): Promise<K>',
    },
    {
      ...{ edit: 'signature', symbol: 'later', text: 'const later = async (n: number, m: number): Promise<number>' },
      from: 'const later = async (n: number): Promise<number> =>',
      to: 'const later = async (n: number, m: number): Promise<number> =>',
    },
    {
      ...{ edit: 'signature', symbol: 'over[1]', text: 'function over(a: bigint): void' },
      from: 'function over(a: number): void',
      to: 'function over(a: bigint): void',
    },
    {
      ...{ edit: 'after', symbol: 'Shop.add', text: 'remove() {\n\treturn 1;\n}' },
      from: '    return item;\n  }\n',
      to: '    return item;\n  }\n\n  remove() {\n    return 1;\n  }\n',
    },
    {
      ...{ edit: 'before', symbol: 'Shop', text: '/** A till. */\nclass Till {}' },
      from: '/** A shop. */',
      to: '/** A till. */\nclass Till {}\n\n/** A shop. */',
    },
    {
      ...{ edit: 'after', symbol: 'limits', text: 'const more = 1;' },
      from: '  least: 1,\n};\n',
      to: '  least: 1,\n};\n\nconst more = 1;\n',
    },
    {
      ...{ edit: 'replace', symbol: 'double', text: 'export function double(n: number) {\n  return 2 * n;\n}' },
      from: 'export const double = (n: number) => n * 2;',
      to: 'export function double(n: number) {\n  return 2 * n;\n}',
    },
    {
      ...{ edit: 'delete', symbol: 'Shop.add' },
      from: '\n  /** Adds one. */\n  @log\n  async add<K>(item: K): Promise<K> {\n    return item;\n  }\n',
      to: '',
    },
    { ...{ edit: 'delete', symbol: 'Id' }, from: 'type Id = string;\n', to: '' },
  ],
};
