import { z } from 'zod';
import type { SymbolChange } from '../core/code/edit/change-symbol.ts';
import { locateFunction } from '../core/code/edit/locate-function.ts';
import { spliceSignature } from '../core/code/edit/splice-signature.ts';
import { previewSymbolEdit, runSymbolEdit, symbolEditOutput } from '../core/code/edit/symbol-edit-tool.ts';
import { defineTool } from '../core/tools/tool.ts';

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  function_name: z.string().min(1).describe('Foo, Type.method, (*T).Foo; Foo[1] for the second overload'),
  new_signature: z.string().min(1).describe('All up to the body, without its opening brace'),
});

const name = 'change_function_signature';

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
    'does its name. Callers are not changed. A result that does not parse is refused.',
  access: 'write',
  reach: 'one',
  tells: true,
  paths: ['file_path'],
  changes: ['file_path'],
  input,
  output: symbolEditOutput,
  preview: (call, context) => previewSymbolEdit(name, context, toChange(call)),
  run: (call, context) => runSymbolEdit(name, context, toChange(call)),
});

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
