import { z } from 'zod';
import type { SymbolChange } from '../core/code/edit/change-symbol.ts';
import { locateFunction } from '../core/code/edit/locate-function.ts';
import { spliceBody } from '../core/code/edit/splice-body.ts';
import { previewSymbolEdit, runSymbolEdit, symbolEditOutput } from '../core/code/edit/symbol-edit-tool.ts';
import { defineTool } from '../core/tools/tool.ts';

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  function_name: z.string().min(1).describe('Foo, Type.method, (*T).Foo; Foo[1] for the second overload'),
  new_body: z.string().describe('The new body without braces; may be empty'),
});

const name = 'edit_function_body';

export const editFunctionBody = defineTool({
  toolset: 'code',
  name,
  spellings: {
    aliases: {
      ...{ path: 'file_path', relative_path: 'file_path', symbol: 'function_name', symbol_name: 'function_name' },
      ...{ name_path: 'function_name', name: 'function_name', body: 'new_body' },
    },
  },
  title: 'Edit function body',
  description:
    'Replace the body of a function or method that has been read. The signature, decorators and doc comment stay, the new ' +
    'body is indented as the file is, and a result that does not parse is refused.',
  access: 'write',
  reach: 'one',
  reportsChanges: true,
  paths: ['file_path'],
  changes: ['file_path'],
  input,
  output: symbolEditOutput,
  preview: (call, context) => previewSymbolEdit(name, context, toChange(call)),
  run: (call, context) => runSymbolEdit(name, context, toChange(call)),
});

function toChange({ file_path: path, function_name: written, new_body: text }: z.output<typeof input>): SymbolChange {
  return {
    ...{ path, text, kind: 'body' },
    locate: (file) => locateFunction(file, written, true),
    splice: (bytes, _parsed, symbol, body) => spliceBody(bytes, symbol, body),
  };
}
