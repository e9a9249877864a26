import { z } from 'zod';
import { postEditOutput } from '../../checks/post-edit/post-edit-output.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { findSymbol, type WorkspaceSymbolQuery } from '../symbols/find-symbol.ts';
import { pickSymbol } from '../symbols/pick-symbol.ts';
import { fullName } from '../symbols/symbol-address.ts';
import { changeSymbol, previewSymbolChange, type SymbolChange } from './change-symbol.ts';
import { renderInsertion, renderRegion } from './render-change.ts';

/** The answer of every tool that changes a symbol. */
export const symbolEditOutput = z.object({
  path: z.string(),
  symbol: z.string().describe('Name of the symbol with its containers'),
  kind: z.string(),
  line: z.int().describe('First changed line'),
  diff: z.string(),
  ...postEditOutput,
});

/** Makes a change and answers it in the words of every symbol edit. */
export async function runSymbolEdit(tool: string, context: ToolContext, change: SymbolChange) {
  const { written, change: made, replacement } = await changeSymbol(context, change);
  const { line, text, diff } = render(tool, change, made);
  const { symbol } = made;
  return {
    text,
    structured: { path: written.path, symbol: fullName(symbol), kind: symbol.kind, line, diff },
    touched: [written.path],
    replacement,
  };
}

/** Renders the answer before anything is written, for a person who has to approve the change. */
export async function previewSymbolEdit(tool: string, context: ToolContext, change: SymbolChange): Promise<string> {
  return render(tool, change, await previewSymbolChange(context, change)).text;
}

function render(tool: string, { path, kind }: SymbolChange, made: Parameters<typeof renderRegion>[0]) {
  if (kind === 'insertion') {
    const { line, size, diff } = renderInsertion(made);
    return { line, diff, text: `${tool}: inserted ${size} bytes in ${path} at line ${line}\n${diff}` };
  }
  const { line, diff } = renderRegion(made);
  return { line, diff, text: `${tool}: modified ${path} at line ${line}\n${diff}` };
}

/** Finds the file of a symbol, and picks the symbol in it again when the file is changed. */
export async function locateSymbol(
  query: WorkspaceSymbolQuery,
  context: ToolContext,
): Promise<Pick<SymbolChange, 'path' | 'locate'>> {
  const { file_path: given, ...rest } = query;
  const path = given ?? (await findSymbol(query, context)).file.path;
  return { path, locate: (file) => pickSymbol(file, rest) };
}
