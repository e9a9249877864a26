// Plain JavaScript on built-ins: it runs on whatever Node is there before the packages and Node 24 are.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { areDocsCurrent, isBundleCurrent, isPageCurrent } from '../packages/croft/bin/bundle.mjs';
import { compileNative } from '../packages/croft/native/compile.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampFile = join(root, 'node_modules/.croft-setup.json');
const ownNode = join(root, 'node_modules/.bin/node');
const deadlineMs = Number(process.env.CROFT_SETUP_DEADLINE_S || 240) * 1000;
// Explicit, because npm inherits a caller's `npm -s` or NODE_ENV=production.
const npmFlags = ['--no-audit', '--no-fund', '--include=dev', '--loglevel=http', '--fetch-timeout=60000'];
const tools = { rg: 'ripgrep', bwrap: 'bubblewrap', cc: 'gcc', git: 'git' };
const apt = { ids: ['debian', 'ubuntu'], install: 'sudo apt-get install -y', gccNeeds: ['libc6-dev'] };
const packageManagers = [
  apt,
  { ids: ['fedora', 'rhel', 'centos'], install: 'sudo dnf install -y', gccNeeds: ['glibc-static'] },
  { ids: ['arch'], install: 'sudo pacman -S --needed' },
  { ids: ['alpine'], install: 'sudo apk add', gccNeeds: ['musl-dev', 'linux-headers'] },
  { ids: ['darwin'], install: 'brew install' },
];

async function main() {
  const osRelease = readIfPresent('/etc/os-release') ?? '';
  const isRoot = process.getuid?.() === 0;
  const canInstallTools = isRoot && managerFor(osRelease, process.platform) === apt && Boolean(findTool('apt-get'));
  if (!isCurrent() || (canInstallTools && missingTools().length > 0)) {
    const { run, release } = await startWork();
    if (!isCurrent()) await installPackages(run);
    if (canInstallTools) await installTools(run, missingTools());
    release();
  }
  const missing = missingTools();
  if (missing.length > 0) say(installHint(osRelease, missing, { isRoot }));
  // Without a compiler the line above has said it all.
  const problem = missing.includes('cc') ? undefined : compileNative(nativeOptions());
  if (problem)
    say(`${problem}\n  Next: if files of the C library are missing: ${installCommand(osRelease, ['cc'], { isRoot })}`);
  build(isBundleCurrent, 'scripts/bundle.ts', 'the program was not bundled, and starts from its sources');
  build(isPageCurrent, 'scripts/page.ts', 'the page for people was not built, and croft serve has none');
  build(areDocsCurrent, 'scripts/docs.ts', 'the documentation was not built, and croft serve has no /docs');
}

function nativeOptions() {
  const sources = join(root, 'packages/croft/native');
  const headers = join(root, 'node_modules/node-api-headers/include');
  return { sources, build: join(sources, 'build'), headers, cc: findTool('cc') };
}

/** Makes what the sources have become, if they are newer. The program works without it, and says what is missing. */
function build(isCurrent, script, consequence) {
  if (isCurrent()) return;
  const { status, stderr } = spawnSync(ownNode, [join(root, script)], {
    env: { ...process.env, NO_COLOR: '1' },
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (status === 0) return;
  const why = stderr
    ?.split('\n')
    .filter((line) => line.trim())
    .slice(0, 8)
    .join('\n    ');
  say(`${consequence}:\n    ${why}`);
}

function isCurrent() {
  return isExecutable(ownNode) && readIfPresent(stampFile) === JSON.stringify({ fingerprint: fingerprint(root) });
}

/** Changes whenever the installed packages may no longer be the ones asked for. */
export function fingerprint(folder) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const packages = fs.readdirSync(join(folder, 'packages')).sort();
  for (const file of ['package-lock.json', 'package.json', ...packages.map((name) => `packages/${name}/package.json`)])
    hash.update(`${file}\n${readIfPresent(join(folder, file)) ?? ''}\n`);
  return hash.digest('hex');
}

async function startWork() {
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }))
    process.once(signal, () => process.exit(128 + number));
  const { noteChild, release } = await takeLock(join(root, '.setup'));
  // An npm script has our own Node first on its PATH, and that is about to be replaced.
  const PATH = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.endsWith('node_modules/.bin'));
  // npm would run what it finds compiled in the directory that all users share, whoever put it there.
  const own = { NODE_DISABLE_COMPILE_CACHE: '1', DEBIAN_FRONTEND: 'noninteractive' };
  const env = { ...process.env, PATH: PATH.join(delimiter), ...own };
  const common = { cwd: root, env, deadlineMs, onStart: noteChild, logFile: join(root, '.setup/last.log') };
  return { run: (argv, options) => runWithRetries(argv, { ...common, ...options }), release };
}

async function installPackages(run) {
  const startedAt = Date.now();
  const stamp = JSON.stringify({ fingerprint: fingerprint(root) });
  const unfinished = join(root, '.setup/unfinished');
  const beforeTry = () => {
    // npm install takes a half-unpacked package for a whole one.
    if (fs.existsSync(unfinished)) fs.rmSync(join(root, 'node_modules'), { recursive: true, force: true });
    fs.rmSync(stampFile, { force: true });
    fs.writeFileSync(unfinished, '');
  };
  say('installing the npm packages, usually within a minute');
  let result = await run(['npm', 'ci', ...npmFlags], { beforeTry, isFinal: isOutOfSync });
  if (result.failure && isOutOfSync(result.output)) {
    fs.rmSync(unfinished);
    // Without --no-save it would edit the lock file of a fresh clone.
    result = await run(['npm', 'install', '--no-save', ...npmFlags], { beforeTry });
  }
  if (!result.failure && !isNode24()) result = await run(['npm', 'rebuild', 'node', ...npmFlags]);
  if (result.failure || !isNode24()) throw new Error(explain('the npm packages could not be installed', result));
  fs.writeFileSync(stampFile, stamp);
  fs.rmSync(unfinished);
  say(`npm packages ready in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}

/** Said before npm ci touches anything; also when there is no lock file. */
function isOutOfSync(output) {
  return output.includes('code EUSAGE');
}

function isNode24() {
  const { stdout } = spawnSync(ownNode, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return Number.parseInt(stdout?.slice(1), 10) >= 24;
}

async function installTools(run, missing) {
  if (missing.length === 0) return;
  const packages = packageNames(missing, apt);
  const flags = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=60'];
  say(`installing ${packages.join(', ')}`);
  // A failed update is not the end: the lists on disk may be good enough.
  await run(['apt-get', 'update']);
  const result = await run(['apt-get', 'install', ...flags, ...packages]);
  if (result.failure) say(explain('the system tools could not be installed', result));
}

/** The commands `lookup` does not find. bubblewrap exists for Linux alone, so nobody else misses it. */
export function missingTools(lookup = findTool, platform = process.platform) {
  return Object.keys(tools).filter((name) => !lookup(name) && (platform === 'linux' || name !== 'bwrap'));
}

function findTool(command) {
  const folders = ['/usr/bin', '/usr/local/bin', '/bin', ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, command)).find(isExecutable);
}

/** One line: what is missing and the command that brings it. */
export function installHint(osRelease, missing, host) {
  const names = missing.map((command) => (tools[command] === command ? command : `${tools[command]} (${command})`));
  const what = `missing ${new Intl.ListFormat('en').format(names)}; install ${missing.length > 1 ? 'them' : 'it'}`;
  return `${what} with: ${installCommand(osRelease, missing, host)}`;
}

function installCommand(osRelease, missing, { platform = process.platform, isRoot = false } = {}) {
  const manager = managerFor(osRelease, platform) ?? { install: 'your package manager:' };
  const install = isRoot ? manager.install.replace('sudo ', '') : manager.install;
  return [install, ...packageNames(missing, manager)].join(' ');
}

function managerFor(osRelease, platform) {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)/gm)].flatMap(([, value]) => value.split(' '));
  return packageManagers.find((manager) => [platform, ...ids].some((id) => manager.ids.includes(id)));
}

function packageNames(missing, { gccNeeds = [] }) {
  return missing.flatMap((command) => [tools[command], ...(command === 'cc' ? gccNeeds : [])]);
}

/**
 * Runs a program until it succeeds, `isFinal(output)` says that another try is pointless, or `tries` is used up.
 * A try that outlives `deadlineMs`, or this process, is killed together with everything it started.
 */
export async function runWithRetries(argv, { tries = 3, pauseMs = 2000, beforeTry, isFinal, ...options }) {
  for (let attempt = 1; ; attempt++) {
    beforeTry?.();
    const failure = await runOnce(argv, options);
    const output = fs.readFileSync(options.logFile, 'utf8');
    if (!failure || attempt === tries || isFinal?.(output)) return { argv, attempt, failure, output };
    say(`${argv.slice(0, 2).join(' ')} ${failure}; trying again (${attempt + 1} of ${tries})`);
    await pause(pauseMs);
  }
}

/** Resolves to how it failed. Output goes to a file, because a surviving grandchild would hold a pipe open. */
function runOnce([program, ...args], { logFile, deadlineMs: limitMs, onStart, ...options }) {
  const log = fs.openSync(logFile, 'w');
  const child = spawn(program, args, { ...options, detached: true, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  if (child.pid) onStart?.(child.pid);
  const killAll = () => unless(['ESRCH'], () => process.kill(-child.pid, 'SIGKILL'));
  process.once('exit', killAll);
  return new Promise((settle) => {
    let failure;
    const deadline = setTimeout(() => {
      failure = `did not finish in ${limitMs / 1000} s`;
      killAll();
    }, limitMs);
    const finish = (ending) => {
      clearTimeout(deadline);
      process.off('exit', killAll);
      settle(failure ?? ending);
    };
    child.once('error', ({ code }) => finish(`could not be started (${code})`));
    child.once('exit', (code, signal) => finish(code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}`));
  });
}

export function explain(what, { argv, attempt, failure = 'left no working Node 24', output }) {
  const lines = output.split('\n').filter((line) => line.trim() && !line.includes('EBADENGINE'));
  return `${what}.
  "${argv.join(' ')}" ${failure}${attempt > 1 ? `, ${attempt} times` : ''}. Its last output:
    ${lines.slice(-12).join('\n    ') || '(none)'}
  Next: check the network and the output above (all of it: .setup/last.log), then run: npm run setup
  On a slow line allow more time, here 15 minutes: CROFT_SETUP_DEADLINE_S=900 npm run setup`;
}

/**
 * Waits until no other set-up works in `directory`. The lock is a folder holding one file, named after its owner:
 * renaming onto it succeeds only while it is absent or empty, and removing a dead owner's file can never hit
 * the file of whoever came next.
 */
export async function takeLock(directory, { waitMs = 30 * 60_000, pollMs = 200 } = {}) {
  const lock = join(directory, 'lock');
  const owner = `${process.pid}-${randomUUID()}`;
  const candidate = join(directory, `candidate-${owner}`);
  fs.mkdirSync(candidate, { recursive: true });
  fs.writeFileSync(join(candidate, owner), '');
  process.once('exit', () => fs.rmSync(candidate, { recursive: true, force: true }));
  const giveUpAt = Date.now() + waitMs;
  for (let waits = 0; !unless(['ENOTEMPTY', 'EEXIST'], () => fs.renameSync(candidate, lock) ?? true); waits++) {
    const holder = liveHolder(lock);
    if (holder && waits === 0) say(`waiting for another set-up (process ${holder})`);
    if (Date.now() > giveUpAt) throw new Error(`process ${holder} still holds ${lock}: end it, or delete that folder`);
    if (holder) await pause(pollMs);
  }
  // The lock also holds for as long as a noted child lives, so nobody races an orphaned npm.
  const noteChild = (pid) => fs.writeFileSync(join(lock, owner), String(pid));
  return { noteChild, release: () => fs.rmSync(join(lock, owner), { force: true }) };
}

function liveHolder(lock) {
  const [owner] = fs.readdirSync(lock);
  if (!owner) return undefined;
  const holder = [Number.parseInt(owner, 10), Number(readIfPresent(join(lock, owner)))].find(isAlive);
  if (!holder) fs.rmSync(join(lock, owner), { force: true });
  return holder;
}

/** A zombie counts as dead: in a container nobody may ever reap it. */
export function isAlive(pid) {
  const isThere = () => pid > 0 && (unless(['EPERM'], () => process.kill(pid, 0)) ?? true);
  return Boolean(unless(['ESRCH'], isThere)) && !/\) [ZX] /.test(readIfPresent(`/proc/${pid}/stat`) ?? '');
}

function isExecutable(file) {
  const stat = unless(['EACCES'], () => fs.statSync(file, { throwIfNoEntry: false }));
  return Boolean(stat?.isFile() && stat.mode & 0o111);
}

function readIfPresent(file) {
  return unless(['ENOENT', 'ENOTDIR', 'ESRCH'], () => fs.readFileSync(file, 'utf8'));
}

/** Returns the result of `act`, or `undefined` if the system refuses with one of these codes. */
function unless(codes, act) {
  try {
    return act();
  } catch (error) {
    if (!codes.includes(error.code)) throw error;
  }
}

function say(text) {
  process.stderr.write(`croft: ${text}\n`);
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await main().catch((error) => {
    say(error.message);
    process.exitCode = 1;
  });
