import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '../..');

/** The part of a `package.json` that the packages take from the sources. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly exports?: string | Readonly<Record<string, string>>;
  readonly imports?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, object>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export function readManifest(directory: string): Manifest {
  return JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8')) as Manifest;
}

/** Writes the `package.json` of a package. It has no scripts: many package managers run none when they install. */
export function writeManifest(
  directory: string,
  { name, version, description, license }: Manifest,
  more: object,
): void {
  const manifest = { name, version, description, license, type: 'module', ...more };
  writeText(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The versions that the lock file has: an installation runs what the tests ran. */
export function pinVersions(names: readonly string[]): Record<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  return Object.fromEntries(names.map((name) => [name, mustBeLocked(name, packages[`node_modules/${name}`]?.version)]));
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}

function mustBeLocked(name: string, version: string | undefined): string {
  if (version === undefined) throw new Error(`package-lock.json has no ${name}`);
  return version;
}

export function copyInto(directory: string, from: string, names: readonly string[]): void {
  const isSource = (path: string) => !path.endsWith('.test.ts') && !/\/native\/build(\/|$)/.test(path);
  for (const name of names)
    cpSync(join(root, from, name), join(directory, name), { recursive: true, filter: isSource, mode: 0 });
}

export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Runs a program of this machine. Its output is shown only if the program fails. */
export function runProgram(argv: readonly [string, ...string[]], cwd = root): string {
  const [program, ...args] = argv;
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${argv.join(' ')} failed: ${error?.message ?? ''}\n${stdout}${stderr}`);
}

/** Makes the tarball of a staged package. Returns the path of the tarball. */
export function packTarball(directory: string, target: string): string {
  const answer = runProgram(['npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', target], directory);
  const packed = JSON.parse(answer) as PackedTarballs;
  const [first] = Array.isArray(packed) ? packed : Object.values(packed);
  if (first === undefined) throw new Error(`npm pack made no tarball of ${directory}`);
  return join(target, first.filename.replace('@', '').replace('/', '-'));
}

type PackedTarballs = readonly PackedTarball[] | Readonly<Record<string, PackedTarball>>;
type PackedTarball = { readonly filename: string };
