import { z } from 'zod';
import type { SymbolChange } from '../core/code/edit/change-symbol.ts';
import { locateMethod } from '../core/code/edit/locate-function.ts';
import { spliceAfter } from '../core/code/edit/splice-neighbour.ts';
import { previewSymbolEdit, runSymbolEdit, symbolEditOutput } from '../core/code/edit/symbol-edit-tool.ts';
import { defineTool } from '../core/tools/tool.ts';

const input = z.object({
  file_path: z.string().min(1).describe('Path of the file, relative to the workspace root'),
  receiver_type: z.string().min(1).describe('Class or type that has the method: T or *T'),
  method_name: z.string().min(1).describe('Method to insert after'),
  new_method: z.string().min(1).describe('The whole new method'),
});

const name = 'insert_after_method';

export const insertAfterMethod = defineTool({
  toolset: 'code',
  name,
  spellings: {
    aliases: { path: 'file_path', relative_path: 'file_path', class_name: 'receiver_type', body: 'new_method' },
  },
  title: 'Insert after method',
  description:
    'Insert a method after another one of the same class or type, in a file that has been read. It is indented like that ' +
    'method. A result that does not parse is refused.',
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

function toChange(call: z.output<typeof input>): SymbolChange {
  return {
    ...{ path: call.file_path, text: call.new_method, kind: 'insertion' },
    locate: (file) => locateMethod(file, call.receiver_type, call.method_name),
    splice: spliceAfter,
  };
}
