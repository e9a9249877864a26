// Plain JavaScript on built-ins: set-up runs it with whatever Node is there, and packages ship it for `croft doctor --fix`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

const flags = ['-O2', '-Wall', '-Wextra'];

const programs = [
  {
    what: 'the init of sandboxes',
    folders: ['init', 'box', 'follow', 'search', 'relay'],
    name: 'croft-init',
    stamp: 'sources.sha256',
    how: ['-static'],
  },
  { what: 'the prober of escapes', folders: ['prober'], name: 'croft-prober', how: ['-static'] },
  {
    what: 'the file system addon',
    folders: ['files'],
    name: 'croft-files.node',
    // Its sums must be Node's to the last bit. It uses the C library of its Node, glibc or musl of any version: it names
    // no library, and no version of a function.
    how: ['-shared', '-fPIC', '-ffp-contract=off', '-nodefaultlibs', '-nostartfiles', '-U_FORTIFY_SOURCE'],
    needsNode: true,
  },
];

/**
 * Compiles the init of sandboxes, the prober that escapes are attempted with, and the addon for files into the directory
 * `build`, unless they are already what the sources make. Returns the reason of a failure.
 */
export function compileNative({ build, headers, cc, sources }) {
  const problems = programs.map((program) => compile(program, { build, headers, cc, sources }));
  return problems.find((problem) => problem !== undefined);
}

function compile(
  { what, folders, name, how, needsNode, stamp = `${name}.sources.sha256` },
  { build, headers, cc, sources },
) {
  const files = folders.flatMap((folder) => listSources(join(sources, folder))).sort();
  if (files.length === 0) return undefined;
  const all = [...flags, ...how, ...(needsNode ? ['-I', headers] : [])];
  const digest = sha256(...files.map((file) => fs.readFileSync(file)), all.join(' '));
  const binary = join(build, name);
  if (read(join(build, stamp)) === digest && read(`${binary}.sha256`) === hashOf(binary)) return undefined;
  fs.mkdirSync(build, { recursive: true, mode: 0o755 });
  const temporary = `${binary}.${process.pid}`;
  const inputs = files.filter((file) => file.endsWith('.c'));
  const { status, stderr } = spawnSync(cc, [...all, '-iquote', sources, '-o', temporary, ...inputs], {
    encoding: 'utf8',
    timeout: 120_000,
    // The compiler starts programs of its own, and the caller's PATH may not have them.
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/bin:/bin` },
  });
  if (status !== 0) return `${what} did not compile:\n    ${firstLines(stderr ?? '')}`;
  fs.renameSync(temporary, binary);
  fs.writeFileSync(`${binary}.sha256`, hashOf(binary));
  fs.writeFileSync(join(build, stamp), digest);
  return undefined;
}

function listSources(folder) {
  const files = fs.existsSync(folder) ? fs.readdirSync(folder, { recursive: true }) : [];
  return files.filter((file) => /\.[ch]$/.test(file)).map((file) => join(folder, file));
}

/**
 * Returns the first lines of the compiler's output. They name a missing header; all errors after them follow from it.
 */
function firstLines(text) {
  return text.split('\n').slice(0, 6).join('\n    ').trimEnd();
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
