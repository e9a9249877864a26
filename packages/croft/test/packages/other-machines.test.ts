import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stageNativePackages } from '../../../../scripts/pack/native-packages.ts';
import { readManifest } from '../../../../scripts/pack/staged-package.ts';
import { findProgram } from '../../src/lib/processes/find-program.ts';
import { makeDirectory } from '../support/harness.ts';

/** `npm run test:packages`. Each test needs compilers of Debian: `gcc-aarch64-linux-gnu`, `qemu-user-static`, `musl-tools`. */
const isWanted = process.env.CROFT_PACKAGES !== undefined;
const arm = { cc: findProgram('aarch64-linux-gnu-gcc'), emulator: findProgram('qemu-aarch64-static') };
const muslCompiler = findProgram('musl-gcc');
const loader = join(import.meta.dirname, 'load-addon.c');

describe.skipIf(!isWanted)('the compiled files, on machines that this one is not', () => {
  const directory = makeDirectory();
  const at = (cpu: string, name: string) => directory.at(`stage/linux-${cpu}/${name}`);
  beforeAll(async () => {
    mkdirSync(directory.at('stage'));
    await stageNativePackages(directory.at('stage'), readManifest('packages/croft'));
  }, 240_000);
  afterAll(() => directory[Symbol.dispose]());

  function run(...[program = '', ...args]: readonly string[]) {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    return { status, said: `${stdout}${stderr}` };
  }

  function compileLoader(compiler: string, name: string): string {
    const program = directory.at(name);
    expect(run(compiler, '-rdynamic', '-o', program, loader, '-ldl')).toEqual({ status: 0, said: '' });
    return program;
  }

  describe.skipIf(!arm.cc || !arm.emulator)('arm64', () => {
    const emulate = (...argv: readonly string[]) => run(arm.emulator ?? '', '-L', '/usr/aarch64-linux-gnu', ...argv);

    test('the init and the prober start, without any library', () => {
      expect(emulate(at('arm64', 'croft-init'))).toMatchObject({
        status: 1,
        said: expect.stringContaining('no socket'),
      });
      expect(emulate(at('arm64', 'croft-prober'))).toMatchObject({
        status: 2,
        said: expect.stringContaining('no such'),
      });
    });

    test('the addon loads, with every symbol', () => {
      const program = compileLoader(arm.cc ?? '', 'load-arm64');
      expect(emulate(program, at('arm64', 'croft-files.node'))).toEqual({ status: 0, said: 'loaded\n' });
    });
  });

  test.skipIf(!muslCompiler)('the addon loads with the C library of Alpine, with every symbol', () => {
    const program = compileLoader(muslCompiler ?? '', 'load-musl');
    expect(run(program, at(process.arch, 'croft-files.node'))).toEqual({ status: 0, said: 'loaded\n' });
  });
});
