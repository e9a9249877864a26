import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stageCroft } from './pack/croft-package.ts';
import { makeDebianPackage } from './pack/debian-package.ts';
import { stageLibraries } from './pack/library-packages.ts';
import { stageNativePackages } from './pack/native-packages.ts';
import { toRegistryManifest } from './pack/registry-manifest.ts';
import { packTarball, readManifest, root, writeText } from './pack/staged-package.ts';

/**
 * Makes the tarballs of all npm packages: `croft`, its libraries, and one package with compiled files for each
 * processor. Returns their paths.
 */
export async function packAll(target: string): Promise<string[]> {
  const stage = mkdtempSync(join(tmpdir(), 'croft-pack-'));
  try {
    mkdirSync(target, { recursive: true });
    const croft = readManifest('packages/croft');
    const natives = await stageNativePackages(stage, croft);
    const directories = [
      ...natives.map(({ directory }) => directory),
      ...stageLibraries(stage),
      await stageCroft(stage, croft, natives),
    ];
    return directories.map((directory) => packTarball(directory, target));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
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
  const tarballs = await packAll(target);
  const registry = join(target, 'server.json');
  writeText(registry, `${JSON.stringify(toRegistryManifest(readManifest('packages/croft')), null, 2)}\n`);
  for (const file of [...tarballs, registry, ...packForDebian(tarballs, target)])
    console.log(join('packs', basename(file)));
}
