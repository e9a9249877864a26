import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findPackageFile } from '../lib/processes/find-package-file.ts';
import { findProgram } from '../lib/processes/find-program.ts';
import {
  compiledDirectory,
  describeNativeFix,
  findNativeFile,
  isIntact,
  nativeSources,
} from '../lib/processes/native-files.ts';

/** `native/compile.mjs`, which set-up uses too. */
interface Compiler {
  compileNative(options: {
    readonly sources: string;
    readonly build: string;
    readonly headers: string;
    readonly cc: string;
  }): string | undefined;
}

/** Compiles the native files for this user if they are missing or changed. Returns what was done, as one line. */
export async function compileMissingNativeFiles(): Promise<string> {
  if (isComplete()) return 'the native files are there; nothing to compile';
  if (describeNativeFix() === 'npm run setup') return 'this is a clone; run: npm run setup';
  const cc = findProgram('cc');
  if (cc === undefined)
    return 'no C compiler is installed; install gcc and the headers of the C library, then run this again';
  const headers = findPackageFile(['node-api-headers'], 'include');
  if (headers === undefined) return 'the package node-api-headers is missing; install croft again';
  const build = compiledDirectory();
  mkdirSync(build, { recursive: true, mode: 0o700 });
  const compiler = (await import(pathToFileURL(join(nativeSources, 'compile.mjs')).href)) as Compiler;
  return (
    compiler.compileNative({ sources: nativeSources, build, headers, cc }) ?? `compiled the native files into ${build}`
  );
}

function isComplete(): boolean {
  const names = ['croft-init', 'croft-prober', 'croft-files.node'] as const;
  const found = names.map((name) => findNativeFile(name));
  return found.every((file) => file !== undefined && isIntact(file));
}
