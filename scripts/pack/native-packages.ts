import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../packages/croft/src/lib/crypto/sha256.ts';
import { findProgram } from '../../packages/croft/src/lib/processes/find-program.ts';
import { copyInto, type Manifest, root, writeManifest } from './staged-package.ts';

export interface NativePackage {
  readonly name: string;
  readonly cpu: string;
  readonly directory: string;
  /** SHA-256 of each file. The package `croft` runs no others. */
  readonly hashes: Readonly<Record<string, string>>;
}

/** One package for each processor; the compiler is Debian's for that processor. */
const targets = [
  { cpu: 'x64', cc: process.arch === 'x64' ? 'cc' : 'x86_64-linux-gnu-gcc' },
  { cpu: 'arm64', cc: process.arch === 'arm64' ? 'cc' : 'aarch64-linux-gnu-gcc' },
];
const names = ['croft-init', 'croft-prober', 'croft-files.node'];

/** Makes a package for each processor that a compiler is installed for. */
export async function stageNativePackages(stage: string, croft: Manifest): Promise<NativePackage[]> {
  const { compileNative } = (await import(join(root, 'packages/croft/native/compile.mjs'))) as Compiler;
  return targets.flatMap(({ cpu, cc }) => {
    const compiler = findProgram(cc);
    if (compiler === undefined) return [];
    const [name, directory, build] = [`@croft/linux-${cpu}`, join(stage, `linux-${cpu}`), join(stage, `build-${cpu}`)];
    const headers = join(root, 'node_modules/node-api-headers/include');
    const problem = compileNative({ sources: join(root, 'packages/croft/native'), build, headers, cc: compiler });
    if (problem !== undefined) throw new Error(problem);
    return [stageOne(name, directory, build, { ...croft, name }, cpu)];
  });
}

interface Compiler {
  compileNative(options: Readonly<Record<'sources' | 'build' | 'headers' | 'cc', string>>): string | undefined;
}

function stageOne(name: string, directory: string, build: string, manifest: Manifest, cpu: string): NativePackage {
  mkdirSync(directory, { recursive: true });
  for (const file of names) cpSync(join(build, file), join(directory, file));
  copyInto(directory, '.', ['LICENSE']);
  const description = `The compiled files of Croft for Linux on ${cpu}, with any C library`;
  writeManifest(directory, { ...manifest, description }, { os: ['linux'], cpu: [cpu] });
  const hashes = Object.fromEntries(names.map((file) => [file, sha256(readFileSync(join(directory, file)))]));
  return { name, cpu, directory, hashes };
}
