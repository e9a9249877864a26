import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stageCroft } from './pack/croft-package.ts';
import { makeDebianPackage } from './pack/debian-package.ts';
import { stageLibraries } from './pack/library-packages.ts';
import { type NativePackage, stageNativePackages } from './pack/native-packages.ts';
import { toRegistryManifest } from './pack/registry-manifest.ts';
import { packTarball, readManifest, root, writeText } from './pack/staged-package.ts';

/** Paths of tarballs. */
export interface Packed {
  readonly tarballs: readonly string[];
  /** npm refuses to install these here, so each is in a directory that is named after its processor. */
  readonly ofOtherProcessors: readonly string[];
}

/** Makes the npm packages: `croft`, its libraries, and one package with compiled files for each processor. */
export async function packAll(target: string): Promise<Packed> {
  const stage = mkdtempSync(join(tmpdir(), 'croft-pack-'));
  try {
    mkdirSync(target, { recursive: true });
    const croft = readManifest('packages/croft');
    const natives = await stageNativePackages(stage, croft);
    const [here, others] = [natives.filter(isForHere), natives.filter((native) => !isForHere(native))];
    const directories = [
      ...here.map(({ directory }) => directory),
      ...stageLibraries(stage),
      await stageCroft(stage, croft, natives),
    ];
    const tarballs = directories.map((directory) => packTarball(directory, target));
    return { tarballs, ofOtherProcessors: others.map((native) => packForOther(native, join(target, native.cpu))) };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

const isForHere = ({ cpu }: NativePackage) => cpu === process.arch;

function packForOther({ directory }: NativePackage, target: string): string {
  mkdirSync(target, { recursive: true });
  return packTarball(directory, target);
}

/** Makes the Debian package of the tarballs, where `dpkg-deb` is. */
export function packForDebian(tarballs: readonly string[], target: string): string[] {
  const stage = mkdtempSync(join(tmpdir(), 'croft-pack-'));
  try {
    const made = makeDebianPackage(stage, readManifest('packages/croft'), tarballs, target);
    return made === undefined ? [] : [made];
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const target = join(root, 'packs');
  rmSync(target, { recursive: true, force: true });
  const { tarballs, ofOtherProcessors } = await packAll(target);
  const registry = join(target, 'server.json');
  writeText(registry, `${JSON.stringify(toRegistryManifest(readManifest('packages/croft')), null, 2)}\n`);
  for (const file of [...tarballs, ...ofOtherProcessors, registry, ...packForDebian(tarballs, target)])
    console.log(join('packs', relative(target, file)));
}
