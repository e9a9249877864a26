import type { CodeSymbol, ParsedFile } from '../../src/core/code/code-symbol.ts';
import type { SpliceKind } from '../../src/core/code/edit/check-splice.ts';
import { locateFunction } from '../../src/core/code/edit/locate-function.ts';
import type { Splice } from '../../src/core/code/edit/splice.ts';
import { spliceAndCheck } from '../../src/core/code/edit/splice-and-check.ts';
import { spliceBody } from '../../src/core/code/edit/splice-body.ts';
import { spliceDefinition } from '../../src/core/code/edit/splice-definition.ts';
import { spliceAfter, spliceBefore, spliceOut } from '../../src/core/code/edit/splice-neighbour.ts';
import { spliceSignature } from '../../src/core/code/edit/splice-signature.ts';
import { pickSymbol } from '../../src/core/code/symbols/pick-symbol.ts';
import { createSyntax } from '../../src/syntax/create-syntax.ts';

/** The edits of the symbol tools, as tests name them. */
export type EditName = 'body' | 'signature' | 'replace' | 'after' | 'before' | 'delete';

export const syntax = createSyntax();

export async function parseSource(path: string, source: string | Buffer): Promise<ParsedFile> {
  const parsed = await syntax.parse({ path, bytes: Buffer.from(source) }, new AbortController().signal);
  if (!parsed) throw new Error(`no grammar for ${path}`);
  return parsed;
}

/** Edits a source as the tools do, without a workspace around it. */
export async function editBytes(
  path: string,
  bytes: Buffer,
  edit: EditName,
  symbol: string,
  text = '',
): Promise<Buffer> {
  const parsed = await parseSource(path, bytes);
  const file = { path, bytes, parsed };
  const isOfFunction = edit === 'body' || edit === 'signature';
  const found = isOfFunction ? locateFunction(file, symbol, edit === 'body') : pickSymbol(file, { symbol });
  const { splice, kind } = toSplice(edit, bytes, parsed, found, text);
  const parse = (changed: Buffer) => parseSource(path, changed);
  return (await spliceAndCheck({ bytes, parsed, symbol: found, splice, kind, parse })).bytes;
}

export async function editSource(path: string, source: string, edit: EditName, symbol: string, text = '') {
  return (await editBytes(path, Buffer.from(source), edit, symbol, text)).toString();
}

function toSplice(
  edit: EditName,
  bytes: Buffer,
  parsed: ParsedFile,
  symbol: CodeSymbol,
  text: string,
): { splice: Splice; kind: SpliceKind } {
  switch (edit) {
    case 'body':
      return { splice: spliceBody(bytes, symbol, text), kind: 'body' };
    case 'signature':
      return { splice: spliceSignature(bytes, symbol, text), kind: 'signature' };
    case 'replace':
      return { splice: spliceDefinition(bytes, parsed, symbol, text), kind: 'symbol' };
    case 'after':
      return { splice: spliceAfter(bytes, parsed, symbol, text), kind: 'insertion' };
    case 'before':
      return { splice: spliceBefore(bytes, parsed, symbol, text), kind: 'insertion' };
    case 'delete':
      return { splice: spliceOut(bytes, parsed, symbol), kind: 'removal' };
  }
}
