import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readManifest } from '../../../../scripts/pack/staged-package.ts';
import { packAll, packForDebian } from '../../../../scripts/pack.ts';
import { makeDirectory } from '../support/harness.ts';

/** `npm run test:packages` installs a system from Debian's packages, which takes a minute. */
const isWanted = process.env.CROFT_PACKAGES !== undefined && process.getuid?.() === 0;
const enter = join(import.meta.dirname, 'enter-tree.sh');

describe.skipIf(!isWanted)('the Debian package, in a system with nothing else', () => {
  const directory = makeDirectory();
  const tree = directory.at('tree');

  beforeAll(async () => {
    fs.chmodSync(directory.path, 0o755);
    run(['debootstrap', '--variant=minbase', '--include=bubblewrap,git,ripgrep,libstdc++6', 'bookworm', tree]);
    const { tarballs } = await packAll(directory.at('tarballs'));
    const [made] = packForDebian(tarballs, directory.path);
    fs.cpSync(made ?? '', join(tree, basename(made ?? '')));
    inside(`dpkg -i /croft_${readManifest('packages/croft').version}_*.deb && useradd --create-home someone`);
  }, 600_000);
  afterAll(() => directory[Symbol.dispose]());

  function run(argv: readonly [string, ...string[]]): string {
    const [program, ...args] = argv;
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env });
    expect(status, `${stdout}${stderr}`).toBe(0);
    return stdout;
  }
  const inside = (command: string) => run(['unshare', '--mount', '--pid', '--fork', enter, tree, command]);
  const asSomeone = (command: string) => inside(`cd /home/someone && su someone -c '${command}'`);

  test('has no compiler and no other Node, and its doctor finds what agents need', () => {
    expect(inside('command -v cc node npm || echo none')).toBe('none\n');
    expect(asSomeone('croft --version')).toMatch(/^croft \d/);
    expect(asSomeone('croft doctor')).toMatch(/✓ init .*✓ sandbox .*✓ network /s);
  });

  test('runs a command in a sandbox', () => {
    const call = 'mkdir -p work && cd work && croft tool bash "{\\"command\\":\\"echo made > made; cat made\\"}"';
    expect(asSomeone(call)).toBe('made\n');
    expect(fs.readFileSync(join(tree, 'home/someone/work/made'), 'utf8')).toBe('made\n');
  });

  test('holds', () => {
    expect(asSomeone('croft doctor --prove A1 B27')).toContain('2 attempts: 2 held, 0 got out');
  });
});
