import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guard } from '../src/escapes/escape.ts';
import { createInitFinder } from '../src/init/binary.ts';

const native = join(import.meta.dirname, '../native');

export type InitEdit = readonly [file: string, found: RegExp, instead: string];

/** How each guard that the init raises is taken out of its sources. The product has no switch for any of it. */
const guardEdits: Partial<Record<Guard, readonly InitEdit[]>> = {
  'system-calls': [['init.c', /fence_load\(&refusals\) != 0/, '0']],
  'control-files': [['init.c', /pins_place\(workspace\) != 0/, '0']],
  capabilities: [['init.c', /pins_drop_privileges\(\) != 0/, '0']],
  landlock: [['init.c', /landlock_restrict\(writable\) != 0/, '0']],
  init: [
    ['init.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\) != 0/, '0'],
    ['init.c', /fcntl\(SOCKET, F_SETFD, FD_CLOEXEC\) != 0/, '0'],
    ['keeper.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\);/, ''],
    ['keeper.c', /syscall\(SYS_close_range, 3, ~0U, 0\);/, ''],
    ['end.c', /keeper_kill\(command->keeper, is_keeper\);/, 'kill(-command->program, SIGKILL);'],
  ],
  limits: [['keeper.c', /limit\(RLIMIT_CORE, 0\);/, '']],
};

/** Compiles copies of the init that lack guards, each once, and of each only what is another. */
export function createInitMaker(directory: string) {
  const made = new Map<string, string>();
  const findObjects = onceFor(() => compileAll(join(directory, 'whole')));
  return (guards: readonly Guard[], further: readonly InitEdit[] = []): string => {
    const wanted = [...guards.flatMap((guard) => guardEdits[guard] ?? []), ...further];
    const key = wanted.map(String).sort().join('\n');
    const known = made.get(key);
    if (known !== undefined) return known;
    const folder = join(directory, `init-${made.size}`);
    const built = wanted.length === 0 ? createInitFinder()() : compile(folder, wanted, findObjects());
    made.set(key, built);
    return built;
  };
}

export type InitMaker = ReturnType<typeof createInitMaker>;

function onceFor<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const listNames = (end: string) => readdirSync(native).filter((name) => name.endsWith(end));
const toObject = (name: string) => name.replace(/\.c$/, '.o');
const readNative = (name: string) => readFileSync(join(native, name), 'utf8');

/** The objects of the sources as they are, by the names of those. */
function compileAll(folder: string): Map<string, string> {
  mkdirSync(folder, { mode: 0o755 });
  const names = listNames('.c');
  compileTo(
    folder,
    names.map((name) => join(native, name)),
  );
  return new Map(names.map((name) => [name, join(folder, toObject(name))]));
}

function compile(folder: string, wanted: readonly InitEdit[], objects: ReadonlyMap<string, string>): string {
  mkdirSync(folder, { mode: 0o755 });
  const edited = new Set(wanted.map(([file]) => file));
  const isOther = (name: string) =>
    edited.has(name) || [...edited].some((file) => readNative(name).includes(`#include "${file}"`));
  const headers = listNames('.h').filter((name) => edited.has(name));
  const sources = listNames('.c').filter(isOther);
  for (const name of [...headers, ...sources]) {
    const own = wanted.filter(([file]) => file === name);
    writeFileSync(join(folder, name), own.reduce(takeOut, readNative(name)));
  }
  compileTo(
    folder,
    sources.map((name) => join(folder, name)),
  );
  const others = new Map([...objects, ...sources.map((name) => [name, join(folder, toObject(name))] as const)]);
  execFileSync('cc', ['-static', '-o', join(folder, 'init'), ...others.values()]);
  return join(folder, 'init');
}

function compileTo(folder: string, sources: readonly string[]): void {
  execFileSync('cc', ['-O1', '-w', '-c', '-iquote', native, ...sources], { cwd: folder });
}

function takeOut(source: string, [file, found, instead]: InitEdit): string {
  const count = source.match(new RegExp(found, 'g'))?.length;
  if (count !== 1) throw new Error(`${found} is in ${file} ${count ?? 0} times: say here how its guard looks now`);
  return source.replace(found, instead);
}

/** Compiles a program, or a library, from a text of C. */
export function compileText(directory: string, name: string, text: string, options: readonly string[] = []): string {
  const [source, built] = [join(directory, `${name}.c`), join(directory, name)];
  writeFileSync(source, text);
  execFileSync('cc', ['-O1', ...options, '-o', built, source]);
  return built;
}
