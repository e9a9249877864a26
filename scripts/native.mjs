// Plain JavaScript on built-ins, like setup.mjs, which runs it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';

const flags = ['-O2', '-Wall', '-Wextra'];

/**
 * Compiles the init of sandboxes, the prober that escapes are attempted with, and what the server has of its own for
 * files, unless they are already what the sources make. Answers why not, if it cannot.
 */
export function compileNative(root, cc) {
  const native = join(root, 'packages/croft/native');
  if (!fs.existsSync(native)) return undefined;
  const headers = join(root, 'node_modules/node-api-headers/include');
  const programs = [
    {
      what: 'the init of sandboxes',
      folders: ['init', 'box', 'follow', 'search', 'relay'],
      name: 'croft-init',
      stamp: 'sources.sha256',
      how: ['-static'],
    },
    { what: 'the prober of escapes', folders: ['prober'], name: 'croft-prober', how: ['-static'] },
    // Its sums must be Node's to the last bit.
    {
      what: 'the file system addon',
      folders: ['files'],
      name: 'croft-files.node',
      how: ['-shared', '-fPIC', '-ffp-contract=off', '-I', headers],
    },
  ];
  const problems = programs.map((program) => compile({ ...program, native }, cc));
  return problems.find((problem) => problem !== undefined);
}

function compile({ what, native, folders, name, how, stamp = `${name}.sources.sha256` }, cc) {
  const build = join(native, 'build');
  const sources = folders.flatMap((folder) => listSources(join(native, folder))).sort();
  const digest = sha256(...sources.map((file) => fs.readFileSync(file)), [...flags, ...how].join(' '));
  const binary = join(build, name);
  if (read(join(build, stamp)) === digest && read(`${binary}.sha256`) === hashOf(binary)) return undefined;
  fs.mkdirSync(build, { recursive: true });
  const temporary = `${binary}.${process.pid}`;
  const inputs = sources.filter((file) => file.endsWith('.c'));
  const { status, stderr } = spawnSync(cc, [...flags, ...how, '-iquote', native, '-o', temporary, ...inputs], {
    encoding: 'utf8',
    timeout: 120_000,
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

/** What is missing is in the first; without it every file has more to say. */
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
