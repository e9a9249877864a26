import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '../crypto/sha256.ts';
import { packageDirectory } from '../package-directory.ts';
import { tryOrUndefined } from '../try-or-undefined.ts';
import { findPackageFile } from './find-package-file.ts';

type NativeName = 'croft-init' | 'croft-prober' | 'croft-files.node';

/** A compiled file, and the hash that it must have. */
interface NativeFile {
  readonly file: string;
  readonly expectedHash: string;
}

export const nativeSources = join(packageDirectory, 'native');

/** The npm package that brings the compiled files to an installation without a compiler. */
const nativePackage = `@croft/${process.platform}-${process.arch}`;

/** The directory that `croft doctor --fix` compiles to. Each version of the sources has its own. */
export function compiledDirectory(): string {
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };
  return join(homedir(), '.cache/croft/native', `${version}-${process.arch}`);
}

/**
 * Finds a compiled file where set-up put it in a clone, then in the package for this machine, then where `croft doctor
 * --fix` compiled it. The caller runs it only if it has the hash.
 */
export function findNativeFile(name: NativeName): NativeFile | undefined {
  return findCompiled(join(nativeSources, 'build'), name) ?? findPackaged(name) ?? findOwn(name);
}

/** The hash of a file as set-up recorded it beside the file. */
function findCompiled(directory: string, name: NativeName): NativeFile | undefined {
  const file = join(directory, name);
  const expectedHash = tryOrUndefined(() => readFileSync(`${file}.sha256`, 'utf8').trim());
  return expectedHash === undefined || !exists(file) ? undefined : { file, expectedHash };
}

/** The hashes of packaged files are in this package, so that another package under that name is not run. */
function findPackaged(name: NativeName): NativeFile | undefined {
  const file = findPackageFile([nativePackage], name);
  const expectedHash = packagedHashes()[nativePackage]?.[name];
  return file === undefined || expectedHash === undefined ? undefined : { file, expectedHash };
}

type PackagedHashes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `scripts/pack` writes this file. A clone has none. */
function packagedHashes(): PackagedHashes {
  return (
    tryOrUndefined(() => JSON.parse(readFileSync(join(nativeSources, 'hashes.json'), 'utf8')) as PackagedHashes) ?? {}
  );
}

/** Another user, or a program of another user, could have made a directory that is not this user's alone. */
function findOwn(name: NativeName): NativeFile | undefined {
  const directory = compiledDirectory();
  const found = statSync(directory, { throwIfNoEntry: false });
  const isOwn = found !== undefined && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
  return isOwn ? findCompiled(directory, name) : undefined;
}

export function isIntact({ file, expectedHash }: NativeFile): boolean {
  return tryOrUndefined(() => sha256(readFileSync(file))) === expectedHash;
}

/** The advice for a compiled file that is missing or changed. */
export function describeNativeFix(): string {
  return isClone() ? 'npm run setup' : 'croft doctor --fix';
}

const isClone = () => packagedHashes()[nativePackage] === undefined;

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
