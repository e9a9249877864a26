import { obeyedDirectories, obeyedFiles } from '../../packages/croft/src/core/control-files/control-file-names.ts';

/** The lists of `core/control-files/control-file-names.ts` for the init of sandboxes. */
export function toControlNames(): string {
  return [
    '/* Made from src/core/control-files/control-file-names.ts by `npm run generate`. */',
    toArray('directories', obeyedDirectories),
    toArray('files', obeyedFiles),
    '',
  ].join('\n');
}

function toArray(name: string, values: readonly string[]): string {
  return `static const char *const ${name}[] = {\n${values.map((value) => `    "${value}",\n`).join('')}};`;
}
