import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createSyntax } from '../../src/syntax/create-syntax.ts';
import { createParserThread } from '../../src/syntax/parser-thread.ts';
import { connectStdio, makeDirectory } from '../support/harness.ts';
import { type EditName, editSource } from './edit-source.ts';

/** What keeps an edit of a symbol from changing anything else, and a parse from taking more than its share. */

const source =
  'export class Shop {\n  add(item: string) {\n    return item;\n  }\n\n  size() {\n    return 1;\n  }\n}\n';
const [broken, other] = ['syntax error', 'did not parse as intended'];
const outbreaks: readonly (readonly [string, EditName, string, string])[] = [
  ['a body that does not parse', 'body', 'return (;', broken],
  ['a body that ends its function and begins another', 'body', 'return 1;\n}\nevil() {\n  return 2;', other],
  ['a body that ends its class', 'body', 'return 1;\n}\n}\nclass Evil {\nevil() {', other],
  ['a body that turns what follows into a comment', 'body', 'return 1; /*', 'did not parse'],
  ['a signature of another name', 'signature', 'evil(item: string)', other],
  ['a definition of another name in its place', 'replace', 'evil() {}', other],
  ['a definition that ends the class', 'replace', 'add() {}\n}\nclass Evil {', other],
];

test.each(outbreaks)('%s is refused', async (_, edit, text, why) => {
  const symbol = 'Shop.add';
  const edited = editSource('shop.ts', source, edit, symbol, text);
  await expect(edited).rejects.toMatchObject({ code: 'E_NOT_PARSED', message: expect.stringContaining(why) });
});

test('a symbol is not edited by a session that has not read it', async () => {
  using fixture = makeDirectory({ 'shop.ts': source });
  await using session = await connectStdio(['--workspace', fixture.path, '--tools', 'all', '--code', 'syntax']);
  const edits = {
    edit_function_body: { function_name: 'Shop.add', new_body: 'return "x";' },
    change_function_signature: { function_name: 'Shop.add', new_signature: 'add()' },
    replace_symbol: { symbol: 'Shop.add', new_text: 'add() {}' },
    insert_after_symbol: { symbol: 'Shop.add', text: 'more() {}' },
    delete_symbol: { symbol: 'Shop.add' },
  };
  const refuseAll = async () => {
    for (const [tool, args] of Object.entries(edits)) {
      const { text } = await session.call(tool, { file_path: 'shop.ts', ...args });
      expect(text, tool).toContain('refusing to edit shop.ts: Read it first');
    }
  };
  await refuseAll();
  // Another symbol is not this one.
  await session.call('read_symbol', { file_path: 'shop.ts', symbol: 'Shop.size' });
  await refuseAll();
});

test('a parse has two seconds', async () => {
  const bytes = Buffer.from(`${'{ a in '.repeat(100)}\n`.repeat(1400));
  const parsed = createSyntax({ threads: 1 }).parse({ path: 'a.swift', bytes }, new AbortController().signal);
  await expect(parsed).rejects.toThrow('parsing took longer than 2 s');
});

test('a parser thread that needs more than 256 MB ends, and the server does not', async () => {
  const module = pathToFileURL(join(import.meta.dirname, '../fixtures/greedy-worker.mjs'));
  const thread = createParserThread({ module, timeoutMs: 60_000, graceMs: 1000, idleMs: 1000 });
  expect(await thread.ask({ wants: 'file', language: 'any', bytes: new Uint8Array() })).toBe('crashed');
});
