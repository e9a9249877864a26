import { describe, expect, test } from 'vitest';
import { hasToolchains, type ToolchainName } from '../support/toolchains.ts';
import { type CheckTool, expectSameVerdict, listFiles } from './expect-same-verdict.ts';
import { type Projects, shareProjects } from './project.ts';
import { isAsked, unpackCrate, unpackDebian } from './unpack-projects.ts';

/** A tool, and the command that the project's people run in its place. */
type Commands = Partial<Readonly<Record<CheckTool, string>>>;

interface Source {
  readonly toolchains: readonly ToolchainName[];
  readonly commands: Commands;
  /** A part of a source, and the text that breaks it for every command. */
  readonly breaks: readonly [file: string, from: string, to: string];
  /** Commands that fail before anything is broken, with the tools of Debian 12. */
  readonly red?: readonly CheckTool[];
  /** Needed where directories below hold other languages. */
  readonly language?: string;
  /** A set-up command of the project, run once. */
  readonly prepare?: string;
  unpack?(projectTree: Projects, name: string): void;
}

const cmake = 'cmake -S . -B /tmp/own && cmake --build /tmp/own';
const ofCargo = { run_tests: 'cargo test', run_lint: 'cargo clippy', run_typecheck: 'cargo check' };
const ofGo = { run_tests: 'go test ./...', run_lint: 'go vet ./...', run_typecheck: 'go vet ./...' };
const crate = { toolchains: ['rust'], commands: ofCargo, unpack: unpackCrate } as const;

/** Debian's source packages, and its packages of Rust crates. */
const packages: Readonly<Record<string, Source>> = {
  cjson: {
    ...{ toolchains: ['cmake'], language: 'cpp' },
    commands: { run_typecheck: cmake, run_tests: `${cmake} && ctest --test-dir /tmp/own` },
    breaks: ['cJSON.c', 'CJSON_PUBLIC(const char*) cJSON_Version(void)\n{', '$&absent;'],
  },
  jq: {
    toolchains: ['cmake', 'autotools'],
    // Under valgrind its tests take more than ten minutes.
    prepare: 'autoreconf -fi && ./configure --disable-valgrind',
    commands: { run_typecheck: 'make', run_tests: 'make check' },
    breaks: ['src/jv.c', 'jv jv_true() {', '$&absent;'],
  },
  redis: {
    toolchains: ['cmake', 'tcl'],
    // Debian takes jemalloc out of it, so that nothing can be linked.
    commands: { run_typecheck: 'make', run_tests: 'make test' },
    red: ['run_typecheck', 'run_tests'],
    breaks: ['src/adlist.c', 'list *listCreate(void)\n{', '$&absent;'],
  },
  tinyproxy: {
    toolchains: ['cmake', 'autotools'],
    commands: { run_typecheck: './configure && make', run_tests: 'make test' },
    breaks: ['src/text.c', 'size_t strlcpy (char *dst, const char *src, size_t size)\n{', '$&absent;'],
  },
  jinja2: {
    toolchains: ['flake8', 'mypy'],
    commands: { run_lint: 'flake8', run_typecheck: 'mypy' },
    red: ['run_typecheck'],
    breaks: ['src/jinja2/utils.py', 'import enum\n', 'import enum\nimport absent\n'],
  },
  rich: {
    toolchains: ['mypy'],
    commands: { run_typecheck: 'mypy' },
    red: ['run_typecheck'],
    breaks: ['rich/cells.py', 'import re\n', 'import re\nimport absent\n'],
  },
  'golang-github-google-uuid': {
    ...{ toolchains: ['go'], commands: ofGo },
    breaks: ['uuid.go', 'func MustParse(s string) UUID {', '$&absent()'],
  },
  'golang-github-spf13-pflag': {
    ...{ toolchains: ['go'], commands: ofGo, red: ['run_tests', 'run_lint', 'run_typecheck'] },
    breaks: ['flag.go', 'func Parse() {', '$&absent()'],
  },
  itoa: { ...crate, breaks: ['src/lib.rs', 'pub fn new() -> Buffer {', '$&absent();'] },
  fnv: { ...crate, breaks: ['lib.rs', 'fn default() -> FnvHasher {', '$&absent();'] },
  scopeguard: { ...crate, breaks: ['src/lib.rs', 'fn should_run() -> bool {', '$&absent();'] },
};

describe.skipIf(!isAsked)('the verdict on a source package of Debian', { timeout: 1_200_000 }, () => {
  const { projectTree, call } = shareProjects({});

  test.each(Object.entries(packages))('%s', async (name, source) => {
    const { toolchains, commands, breaks, red = [], language, prepare = 'true', unpack = unpackDebian } = source;
    expect(await hasToolchains(...toolchains)).toBe(true);
    unpack(projectTree, name);
    const [file, from, to] = breaks;
    const text = projectTree.read(file);
    expect(text).toContain(from);
    // The build writes beside the sources, and makes manual pages again that are among them.
    const sources = Object.keys(listFiles(projectTree.path)).filter((path) => !/\.[1-8]$/.test(path));
    const { structured } = await call('bash', { command: `rm -rf /tmp/own; ${prepare}`, timeout: 100 });
    expect(structured.exitCode).toBe(0);
    const compared = { path: projectTree.path, call, sources, args: { language } };
    const all = Object.entries(commands) as [CheckTool, string][];
    for (const [tool, command] of all) await expectSameVerdict({ ...compared, tool, command }, !red.includes(tool));
    projectTree.put(file, text.replace(from, to));
    for (const [tool, command] of all) await expectSameVerdict({ ...compared, tool, command }, false);
  });
});
