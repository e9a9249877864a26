import { z } from 'zod';

const position = z.int().min(1).optional();

/** Arguments that name a symbol: by name, by position, or both. */
export const symbolArguments = {
  symbol: z
    .string()
    .min(1)
    .optional()
    .describe('Name: Foo, A.b, A::b, (*T).Foo; /Foo at the top of its file; Foo[1] the second overload'),
  file_path: z
    .string()
    .min(1)
    .optional()
    .describe('File that has it, relative to the workspace root; searched for if left out'),
  line: position.describe('Line of it, from 1; instead of symbol, or to tell symbols of one name apart'),
  col: position.describe('Column of its name on the line, from 1'),
};

/** Other spellings of these arguments. */
export const symbolAliases = {
  ...{ path: 'file_path', relative_path: 'file_path', column: 'col', character: 'col' },
  ...{ symbol_name: 'symbol', name_path: 'symbol', name_path_pattern: 'symbol', name: 'symbol' },
};
