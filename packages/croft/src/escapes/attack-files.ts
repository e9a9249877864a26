import { dirname } from 'node:path';
import type { EscapeFixture } from './escape.ts';
import type { Problem } from './to-verdict.ts';
import { watchFiles } from './watch-files.ts';

/** Shell functions that attack a file, and a directory that contains it. Every command may fail, and should. */
const attackFunctions = `attack() {
  echo evil > "$1"; echo evil >> "$1"; ln "$1" second && echo evil > second; sed -i s/./evil/ "$1"
  cp -f /proc/self/status "$1"; echo evil > new; mv -f new "$1"; echo evil > new; ln -f new "$1"
  ln -sfn /tmp "$1"; echo evil > "$1/new"; mv -f "$1" gone
}
replace() {
  mv "$1" elsewhere && mkdir -p "$1" && echo evil > "$1/new"; rm -rf "$1"; ln -sfn /tmp "$1"
}
exec 2>/dev/null`;

/** Attacks files from inside, and reports which files and directories changed. */
export async function attackFiles(fixture: EscapeFixture, files: readonly string[]): Promise<Problem[]> {
  const changes = watchFiles(fixture.workspace, files);
  // Programs that take many names run once for all files: there are hundreds.
  const all = files.map((file) => `'${file}'`).join(' ');
  await fixture.run(`${attackFunctions}
    truncate -s 0 ${all}; chmod 777 ${all}; touch -d 2001-01-01 ${all}
    for file in ${all}; do attack "$file"; done
    rm -rf ${all}; mkdir -p ${all}
    for folder in ${foldersOf(files)
      .map((folder) => `'${folder}'`)
      .join(' ')}; do replace "$folder"; done`);
  return changes();
}

/** Every directory above the files, the deepest first. */
function foldersOf(files: readonly string[]): string[] {
  const above = (path: string): string[] => (dirname(path) === '.' ? [] : [dirname(path), ...above(dirname(path))]);
  return [...new Set(files.flatMap(above))].sort((one, other) => other.length - one.length);
}
