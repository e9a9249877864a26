import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Guard } from '../../../src/escapes/escape.ts';
import { findInit } from '../../../src/init/find-init.ts';
import { listInitSources, native } from './native-sources.ts';

/** The file is named by its path from `native`. */
export type InitEdit = readonly [file: string, found: RegExp, instead: string];

/** How each guard of the init is removed from its sources. The product has no switch for any of them. */
const guardEdits: Partial<Record<Guard, readonly InitEdit[]>> = {
  'system-calls': [['init/init.c', /seccomp_load\(&refusals\) != 0/, '0']],
  'control-files': [
    ['init/init.c', /guard_control_files\(workspace\) != 0/, '0'],
    [
      'init/guard/name-meanings.c',
      /enum meaning meaning_of\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return NOTHING;',
    ],
    [
      'init/guard/name-meanings.c',
      /int is_held_file\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return 0;',
    ],
    [
      'init/guard/name-meanings.c',
      /int is_held_above\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return 0;',
    ],
    [
      'init/guard/misspelt-names.c',
      /int is_misspelt\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return 0;',
    ],
    [
      'init/guard/settings-drafts.c',
      /int is_others_draft\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return 0;',
    ],
    [
      'init/guard/judged-opens.c',
      /int cover_before\(pid_t thread, int from, const char \*path\) \{/,
      '$& if (path != NULL) return 0;',
    ],
    [
      'init/guard/judged-opens.c',
      /int hold_before\(const struct parent_entry \*entry\) \{/,
      '$& if (entry != NULL) return 0;',
    ],
  ],
  capabilities: [['init/init.c', /drop_privileges\(\) != 0/, '0']],
  landlock: [['init/init.c', /landlock_restrict\(writable\) != 0/, '0']],
  init: [
    ['init/init.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\) != 0/, '0'],
    ['init/init.c', /fcntl\(SOCKET, F_SETFD, FD_CLOEXEC\) != 0/, '0'],
    ['init/commands/command-subreaper.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\);/, ''],
    ['init/commands/command-subreaper.c', /syscall\(SYS_close_range, 3, ~0U, 0\);/, ''],
    [
      'init/commands/command-subreaper.c',
      /if \(WIFSTOPPED\(status\) \|\| ended != program\) continue;/,
      'if (ended != program) continue;',
    ],
    ['init/commands/command-subreaper.c', /if \(WIFSTOPPED\(status\)\) stop_tracing\(ended, WSTOPSIG\(status\)\);/, ''],
    [
      'init/commands/end-command.c',
      /subreaper_kill\(command->subreaper, is_subreaper\);/,
      'kill(-command->program, SIGKILL);',
    ],
  ],
  limits: [
    ['init/commands/command-subreaper.c', /limit\(RLIMIT_CORE, 0\);/, ''],
    ['init/init.c', /inotify_share_limit\("\/run\/croft\/user"\) != 0/, '0'],
  ],
};

/** Compiles copies of the init without guards, each once, and only the files that differ. */
export function createInitMaker(directory: string) {
  const made = new Map<string, string>();
  const findObjects = onceFor(() => compileAll(join(directory, 'whole')));
  return (guards: readonly Guard[], further: readonly InitEdit[] = []): string => {
    const wanted = [...guards.flatMap((guard) => guardEdits[guard] ?? []), ...further];
    const key = wanted.map(String).sort().join('\n');
    const known = made.get(key);
    if (known !== undefined) return known;
    const folder = join(directory, `init-${made.size}`);
    const built = wanted.length === 0 ? findInit() : compile(folder, wanted, findObjects());
    made.set(key, built);
    return built;
  };
}

export type InitMaker = ReturnType<typeof createInitMaker>;

function onceFor<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const toObject = (name: string) => basename(name).replace(/\.c$/, '.o');
const readNative = (name: string) => readFileSync(join(native, name), 'utf8');

/** Compiles the unchanged sources. Returns the object files by the name of the source. */
function compileAll(folder: string): Map<string, string> {
  mkdirSync(folder, { mode: 0o755 });
  const names = listInitSources('.c');
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
  const headers = listInitSources('.h').filter((name) => edited.has(name));
  const sources = listInitSources('.c').filter(isOther);
  for (const name of [...headers, ...sources]) {
    const own = wanted.filter(([file]) => file === name);
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), own.reduce(takeOut, readNative(name)));
  }
  compileTo(
    folder,
    sources.map((name) => join(folder, name)),
  );
  const others = new Map([...objects, ...sources.map((name) => [name, join(folder, toObject(name))] as const)]);
  const program = join(folder, 'croft-init');
  execFileSync('cc', ['-static', '-o', program, ...others.values()]);
  return program;
}

function compileTo(folder: string, sources: readonly string[]): void {
  execFileSync('cc', ['-O1', '-w', '-c', '-iquote', folder, '-iquote', native, ...sources], { cwd: folder });
}

function takeOut(source: string, [file, found, instead]: InitEdit): string {
  const count = source.match(new RegExp(found, 'g'))?.length;
  if (count !== 1) throw new Error(`${found} is in ${file} ${count ?? 0} times: say here how its guard looks now`);
  return source.replace(found, instead);
}

/** Compiles a program or a library from C source text. */
export function compileText(directory: string, name: string, text: string, options: readonly string[] = []): string {
  const [source, built] = [join(directory, `${name}.c`), join(directory, name)];
  writeFileSync(source, text);
  execFileSync('cc', ['-O1', ...options, '-o', built, source]);
  return built;
}
