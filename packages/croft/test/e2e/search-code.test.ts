import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, shareServer } from './shared-server.ts';

const { at, call, put } = shareServer({
  'src/config.ts':
    '/** Reads the settings of the program. */\nexport function parseConfig(text: string) {\n  return JSON.parse(text);\n}\n\nexport function writeFile(path: string) {\n  // parse config again after it was written\n  return path;\n}\n',
  'src/server.ts':
    'export class HTTPServer {\n  listen(port: number) {\n    return port;\n  }\n}\n\nexport const retries = 3;\n',
  'src/shop.py':
    'class Cart:\n    """A cart of a shop."""\n\n    def add_item(self, item):\n        total = compute_total(item)\n        return total\n',
  'src/config.test.ts':
    "import { parseConfig } from './config.ts';\n\nfunction parseConfigOfTest() {\n  return parseConfig('{}');\n}\n",
  'src/router.ts':
    'export class Router {\n  /** Finds the handlers of a path. */\n  match(path: string) {\n    return path;\n  }\n}\n',
  'src/router-behavior.test.ts':
    "describe('Routing', () => {\n  it('should match a router that falls back to a router', () => {\n    const matchRouter = 1;\n  });\n});\n",
  'docs/guide.md': '# Guide\n\nThe frobnicator needs a frobnication.\n',
  'node_modules/m/index.ts': 'export function parseConfig() {}\n',
  '.gitignore': 'ignored/\n',
  'ignored/config.ts': 'export function parseConfig() {}\n',
});

const names = async (query: string, args: Record<string, unknown> = {}) => {
  const { text, isError, structured } = await call('search_code', { query, ...args });
  expect(isError, text).toBe(false);
  return structured.items.map(({ path, line, name }: Record<string, unknown>) =>
    `${path}:${line} ${name ?? ''}`.trim(),
  );
};

describe('the best answer comes first', () => {
  test.each([
    ['parse config', 'src/config.ts:2 parseConfig'],
    ['parseconfig', 'src/config.ts:2 parseConfig'],
    ['parseConfig', 'src/config.ts:2 parseConfig'],
    ['http server', 'src/server.ts:1 HTTPServer'],
    ['server listen port', 'src/server.ts:2 HTTPServer.listen'],
    ['add items to the cart', 'src/shop.py:4 Cart.add_item'],
    ['compute total', 'src/shop.py:4 Cart.add_item'],
    ['router match', 'src/router.ts:3 Router.match'],
    ['settings', 'src/config.ts:2 parseConfig'],
    ['frobnicator', 'docs/guide.md:3'],
    ['"config again after"', 'src/config.ts:6 writeFile'],
  ])('%s', async (query, first) => expect((await names(query))[0]).toBe(first));

  test('and tests come after the code that they test', async () => {
    const found = await names('parse config');
    expect(found).toContain('src/config.test.ts:3 parseConfigOfTest');
    expect(found.join()).not.toMatch(/node_modules|ignored/);
  });
});

test('a result has its kind, signature and doc', async () => {
  const { text, structured } = await call('search_code', { query: 'parse config', limit: 1 });
  expect(structured).toMatchObject({
    items: [{ kind: 'function', doc: 'Reads the settings of the program.' }],
    complete: true,
  });
  expect(text).toMatch(
    /^src\/config\.ts:2 function parseConfig\n {2}export function parseConfig\(text: string\)\n {2}Reads the settings/,
  );
  expect(text).toMatch(/\(1 of \d+ results\)/);
});

test('path, language and kind narrow the search', async () => {
  expect(await names('config', { path: 'src/config.test.ts' })).toEqual(['src/config.test.ts:3 parseConfigOfTest']);
  expect(await names('total', { language: 'typescript' })).toEqual([]);
  expect(await names('cart', { kind: 'class' })).toEqual(['src/shop.py:1 Cart']);
});

test('a change is found at once, whoever made it', async () => {
  put('src/fresh.ts', 'export function zebraStripes() {}\n');
  expect(await names('zebra stripes')).toEqual(['src/fresh.ts:1 zebraStripes']);
  await call('bash', { command: "sed -i 's/zebraStripes/okapiStripes/' src/fresh.ts" });
  expect((await names('okapi stripes'))[0]).toBe('src/fresh.ts:1 okapiStripes');
  expect(await names('zebra')).toEqual([]);
  rmSync(at('src/fresh.ts'));
  expect(await names('okapi')).toEqual([]);
});

test('an empty result says so', async () => {
  expect((await call('search_code', { query: 'qqqq' })).text).toBe('no results for "qqqq"\n');
});

test('a very short word is found as a word, and not inside longer ones', async () => {
  expect(await names('no')).toEqual([]);
  put('src/db.ts', 'export const no = 1;\n');
  expect(await names('no')).toEqual(['src/db.ts:1 no']);
  rmSync(at('src/db.ts'));
});

test.each([[{}], [{ query: '  ' }], [{ query: '?!' }], [{ query: 'x', kind: 'none' }]])(
  '%j is refused',
  async (args) => {
    expect(codeOf(await call('search_code', args))).toBe('E_INVALID_INPUT');
  },
);
