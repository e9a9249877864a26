// Plain JavaScript on built-ins, like setup.mjs, which runs it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

const flags = ['-O2', '-Wall', '-Wextra', '-static'];

/** Compiles the init of sandboxes unless it is already what the sources make. Answers why not, if it cannot. */
export function compileInit(root, cc) {
  const native = join(root, 'packages/croft/native');
  if (!fs.existsSync(native)) return undefined;
  const sources = fs
    .readdirSync(native)
    .filter((name) => /\.[ch]$/.test(name))
    .sort();
  const digest = sha256(...sources.map((name) => fs.readFileSync(join(native, name))), flags.join(' '));
  const build = join(native, 'build');
  const binary = join(build, 'croft-init');
  if (read(join(build, 'sources.sha256')) === digest && read(`${binary}.sha256`) === hashOf(binary)) return undefined;
  if (!cc) return 'a C compiler (cc) is missing, and sandboxes need it once';

  fs.mkdirSync(build, { recursive: true });
  const temporary = `${binary}.${process.pid}`;
  const inputs = sources.filter((name) => name.endsWith('.c')).map((name) => join(native, name));
  const { status, stderr } = spawnSync(cc, [...flags, '-o', temporary, ...inputs], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (status !== 0) return `the init of sandboxes did not compile:\n${stderr}`;
  fs.renameSync(temporary, binary);
  fs.writeFileSync(`${binary}.sha256`, hashOf(binary));
  fs.writeFileSync(join(build, 'sources.sha256'), digest);
  return undefined;
}

function hashOf(file) {
  return fs.existsSync(file) ? sha256(fs.readFileSync(file)) : undefined;
}

function sha256(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function read(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined;
}
