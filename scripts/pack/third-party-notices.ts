import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Licensed {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The licences of the packages that the bundle has parts of. Most licences ask that their text goes with the code. */
export function describeLicences(files: readonly string[]): string {
  const directories = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  return [...directories]
    .sort()
    .map(describe)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function describe(directory: string): string {
  const {
    name,
    version,
    license = 'unknown',
  } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Licensed;
  const [file] = globSync(`${directory}/{LICENSE,LICENCE,License,license,COPYING}*`).sort();
  const text = file === undefined ? 'Its package has no file with the text.' : readFileSync(file, 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}
