import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Has the compiler write the declarations of a package, with the types that the source leaves to it, and calls `read` with
 * the directory of them.
 */
export function emitDeclarations<Read>(name: string, read: (directory: string) => Read): Read {
  const directory = mkdtempSync(join(tmpdir(), 'croft-declarations-'));
  try {
    const source = join(root, 'packages', name, 'src');
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(toProject(source, join(directory, 'out'))));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', directory], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`no declarations of packages/${name}: ${stdout}`);
    return read(join(directory, 'out', name, 'src'));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function toProject(source: string, outDir: string) {
  const compilerOptions = {
    ...{ noEmit: false, incremental: false, declaration: true, emitDeclarationOnly: true },
    ...{ rootDir: join(root, 'packages'), outDir, typeRoots: [join(root, 'node_modules/@types')] },
  };
  const exclude = [join(source, '**/*.test.ts')];
  return { extends: join(root, 'tsconfig.json'), compilerOptions, include: [source], exclude };
}
