import { z } from 'zod';
import type { SymbolChange } from '../core/code/edit/change-symbol.ts';
import { findMisfitCalls } from '../core/code/edit/find-misfit-calls.ts';
import { locateFunction } from '../core/code/edit/locate-function.ts';
import { spliceSignature } from '../core/code/edit/splice-signature.ts';
import { previewSymbolEdit, runSymbolEdit, symbolEditOutput } from '../core/code/edit/symbol-edit-tool.ts';
import type { CodeReference } from '../core/code/symbols/text-references.ts';
import { defineTool } from '../core/tools/tool.ts';

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  function_name: z.string().min(1).describe('Foo, Type.method, (*T).Foo; Foo[1] for the second overload'),
  new_signature: z.string().min(1).describe('All up to the body, without its opening brace'),
});

const name = 'change_function_signature';
const maxMisfits = 20;

export const changeFunctionSignature = defineTool({
  toolset: 'code',
  name,
  spellings: {
    aliases: {
      ...{ path: 'file_path', relative_path: 'file_path', symbol: 'function_name', symbol_name: 'function_name' },
      ...{ name_path: 'function_name', name: 'function_name', signature: 'new_signature' },
    },
  },
  title: 'Change function signature',
  description:
    'Replace the signature of a function or method that has been read. Its body, decorators and doc comment stay, and so ' +
    'does its name. Callers are not changed; those that no longer fit are listed. A result that does not parse is refused.',
  access: 'write',
  reach: 'one',
  reportsChanges: true,
  paths: ['file_path'],
  changes: ['file_path'],
  input,
  output: symbolEditOutput.extend({
    misfits: z
      .array(z.object({ path: z.string(), line: z.int(), text: z.string() }))
      .describe('Calls with more or fewer arguments than the new signature takes, by text'),
  }),
  preview: (call, context) => previewSymbolEdit(name, context, toChange(call)),
  async run(call, context) {
    const edited = await runSymbolEdit(name, context, toChange(call));
    const { path, symbol, line } = edited.structured;
    const found = await findMisfitCalls(
      {
        ...{ path, name: symbol.split('.').at(-1) ?? '', signature: call.new_signature },
        ...{ startLine: line, endLine: line },
      },
      context,
    );
    const misfits = found.slice(0, maxMisfits);
    return { ...edited, structured: { ...edited.structured, misfits }, notices: toNotices(found) };
  },
});

function toNotices(found: readonly CodeReference[]): string[] {
  if (found.length === 0) return [];
  const rows = found.slice(0, maxMisfits).map((each) => `  ${each.path}:${each.line} ${each.text}\n`);
  const more = found.length > maxMisfits ? `  … and ${found.length - maxMisfits} more\n` : '';
  return [`\n${found.length} calls no longer fit the signature (by text):\n${rows.join('')}${more}`];
}

function toChange({
  file_path: path,
  function_name: written,
  new_signature: text,
}: z.output<typeof input>): SymbolChange {
  return {
    ...{ path, text, kind: 'signature' },
    locate: (file) => locateFunction(file, written, false),
    splice: (bytes, _parsed, symbol, signature) => spliceSignature(bytes, symbol, signature),
  };
}
