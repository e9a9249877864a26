import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ground } from './escape.ts';
import type { Problem } from './verdict.ts';

/** What a shell can do to a file that is not its own to change. `$1` is the file; all of it may fail, and should. */
const attacks = `attack() {
  echo evil > "$1"; echo evil >> "$1"; truncate -s 0 "$1"; chmod 777 "$1"; touch -d 2001-01-01 "$1"
  ln "$1" second && echo evil > second; sed -i s/./evil/ "$1"; cp -f /proc/self/status "$1"
  echo evil > new; mv -f new "$1"; echo evil > new; ln -f new "$1"; ln -sfn /tmp "$1"; echo evil > "$1/new"
  mv -f "$1" gone; rm -f "$1"; rm -rf "$1"; mkdir -p "$1"
  folder=$(dirname "$1")
  while [ "$folder" != . ]; do
    mv "$folder" elsewhere && mkdir -p "$(dirname "$1")" && echo evil > "$1"
    rm -rf "$folder"; ln -sfn /tmp "$folder"; folder=$(dirname "$folder")
  done
} 2>/dev/null`;

/** Attacks files from inside, and tells what became of them and of the directories they are in. */
export async function attackFiles(ground: Ground, files: readonly string[]): Promise<Problem[]> {
  const changes = watchFiles(ground.workspace, files);
  await ground.run([attacks, ...files.map((file) => `attack '${file}'`)].join('\n'));
  return changes();
}

/** Looks at files now, and tells later which are no longer as they were. */
export function watchFiles(directory: string, files: readonly string[]): () => Problem[] {
  const before = files.map((file) => describe(directory, file));
  return () => files.map((file, index) => describe(directory, file) !== before[index] && `${file} has changed`);
}

function describe(directory: string, file: string): string {
  try {
    const path = join(directory, file);
    const { ino, mode, nlink, mtimeMs } = lstatSync(path);
    return [ino, mode, nlink, mtimeMs, contentOf(path), lstatSync(dirname(path)).ino].join();
  } catch (thrown) {
    return String(thrown);
  }
}

function contentOf(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return readlinkSync(path);
  if (stats.isDirectory()) return readdirSync(path).sort().join();
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
