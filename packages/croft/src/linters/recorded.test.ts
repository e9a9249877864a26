import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { LintReport } from '../core/checks/linter.ts';
import type { CheckOutput } from '../core/checks/test-runner.ts';
import { lintTools } from '../core/projects/check-names.ts';
import { stripControl } from '../lib/text/strip-control.ts';
import * as registry from './index.ts';

const linters = Object.values(registry);
const reports = join(import.meta.dirname, '../../test/fixtures/lint-reports');

interface Recording extends Partial<CheckOutput> {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the tool really printed, where `source` says that it was recorded; project at `/workspace`. */
function recordings(name: string): Record<string, Recording> {
  return JSON.parse(readFileSync(join(reports, `${name}.report.json`), 'utf8')).runs;
}

function toOutput({ stdout, stderr, ...rest }: Recording): CheckOutput {
  // As it is read from a sandbox.
  const said = { stdout: stripControl(stdout), stderr: stripControl(stderr) };
  return { directory: '/workspace', isCut: false, ...said, ...rest };
}

const toLines = ({ findings }: LintReport) =>
  findings.map(({ file, line, column, rule, severity }) => `${file}:${line}:${column}:${rule} ${severity}`);

/** By tool and recording: the state, then each finding, or a part of the reason. */
const expected: Record<string, Record<string, readonly string[]>> = {
  eslint: {
    findings: [
      'findings',
      'src/bad.js:1:7:no-unused-vars error',
      'src/bad.js:2:1:no-console warning',
      'src/bad.js:2:1:no-undef error',
      'src/bad.js:2:13:no-undef error',
    ],
    clean: ['clean'],
    syntax: ['findings', 'src/syntax.js:1:7: error'],
    ignored: ['broken', 'no file was checked'],
    missing: ['broken', 'No files matching the pattern "nothing.js" were found.'],
    throughScript: ['broken', 'exit 1'],
  },
  biome: {
    findings: [
      'findings',
      'src/bad.js:1:7:lint/correctness/noUnusedVariables warning',
      'src/bad.js:3:1:lint/suspicious/noDebugger error',
    ],
    clean: ['clean'],
    syntax: ['findings', 'src/syntax.js:1:7:parse error', 'src/syntax.js:1:9:parse error'],
    missing: ['broken', 'No such file or directory'],
    ignored: ['broken', 'no file was checked'],
  },
  oxlint: {
    findings: [
      'findings',
      'src/bad.js:1:7:eslint(no-unused-vars) warning',
      'src/bad.js:3:1:eslint(no-debugger) warning',
    ],
    clean: ['clean'],
    syntax: ['findings', 'src/syntax.js:1:7: error'],
    ignored: ['broken', 'no file was checked'],
    wrongSetting: ['broken', 'Failed to parse oxlint configuration'],
  },
  'deno-lint': {
    findings: ['findings', 'src/bad.js:1:7:no-unused-vars warning', 'src/bad.js:3:1:no-debugger warning'],
    clean: ['clean'],
    syntax: ['findings', 'src/syntax.js:1:7: error'],
    ignored: ['broken', 'no file was checked'],
  },
  ruff: {
    findings: ['findings', 'bad.py:1:1:I001 error', 'bad.py:1:8:F401 error', 'bad.py:3:16:F821 error'],
    clean: ['clean'],
    syntax: [
      'findings',
      'syntax.py:1:5:invalid-syntax error',
      'syntax.py:1:6:invalid-syntax error',
      'syntax.py:2:1:invalid-syntax error',
    ],
    missing: ['broken', 'nothing.py: No such file'],
    ignored: ['broken', 'no file was checked'],
    wrongSetting: ['broken', "invalid value 'nope.toml'"],
  },
  flake8: {
    findings: [
      'findings',
      'bad.py:1:1:F401 error',
      'bad.py:2:1:E302 warning',
      'bad.py:3:16:F821 error',
      'bad.py:4:1:E305 warning',
    ],
    clean: ['clean'],
    syntax: ['findings', 'syntax.py:1:6:E999 error'],
    missing: ['broken', 'nothing.py: FileNotFoundError'],
    wrongSetting: ['broken', 'critical error'],
  },
  pylint: {
    findings: [
      'findings',
      'bad.py:1:1:missing-module-docstring info',
      'bad.py:2:1:missing-function-docstring info',
      'bad.py:3:16:undefined-variable error',
      'bad.py:2:17:unused-argument warning',
      'bad.py:4:1:invalid-name info',
      'bad.py:1:1:unused-import warning',
    ],
    clean: ['clean'],
    syntax: ['findings', 'syntax.py:1:6:syntax-error error'],
    missing: ['broken', 'No module named nothing.py'],
    wrongSetting: ['broken', 'usage: pylint'],
    json2: ['clean'],
  },
  mypy: {
    findings: [
      'findings',
      'bad.py:3:16:name-defined error',
      'bad.py:4:10:assignment error',
      'bad.py:5:5:arg-type error',
    ],
    clean: ['clean'],
    // It stops there: other files were not checked.
    syntax: ['broken', 'syntax.py:1:6:syntax error', 'syntax.py:1:7:syntax error', 'syntax.py:2:2:syntax error'],
    missing: ['broken', 'Cannot read file'],
    ignored: ['broken', 'no file was checked'],
    json: ['findings', 'bad.py:3:16:name-defined error', 'bad.py:4:10:assignment error', 'bad.py:5:5:arg-type error'],
    noModule: ['broken', 'No module named mypy'],
  },
  pyright: {
    findings: [
      'findings',
      'bad.py:3:16:reportUndefinedVariable error',
      'bad.py:4:10:reportAssignmentType error',
      'bad.py:5:5:reportArgumentType error',
    ],
    clean: ['clean'],
    missing: ['broken', 'does not exist'],
  },
  tsc: {
    findings: [
      'findings',
      'src/bad.ts:1:14:TS2322 error',
      'src/bad.ts:2:19:TS7006 error',
      'src/bad.ts:3:57:TS2322 error',
    ],
    clean: ['clean'],
    wrongSetting: ['broken', 'TS5058'],
    // A settings file of references alone checks nothing and ends well.
    ignored: ['broken', 'no file was checked'],
    syntax: ['findings', 'src/syntax.ts:1:14:TS1134 error', 'src/syntax.ts:1:16:TS1134 error'],
  },
  'golangci-lint': {
    findings: ['findings', 'main.go:8:2:govet warning', 'util/util.go:5:10:errcheck warning'],
    json: ['findings', 'util/util.go:5:10:errcheck warning'],
    clean: ['clean'],
    doesNotCompile: ['findings', 'broken/b.go:3:23:typecheck error'],
    wrongSetting: ['broken', "can't load config"],
    version1: ['findings', 'main.go:8:2:ineffassign warning', 'main.go:7:13:staticcheck warning'],
    jsonVersion1: ['findings', 'main.go:8:2:ineffassign warning', 'main.go:7:13:staticcheck warning'],
    cleanVersion1: ['clean'],
    cleanJsonVersion1: ['clean'],
    doesNotCompileVersion1: ['broken', 'broken/b.go:3:25: undeclared name: missing'],
    syntaxVersion1: ['broken', 'syntax/s.go:3:11: expected type'],
    wrongSettingVersion1: ['broken', "Can't read config"],
    optionOfVersion2: ['broken', 'unknown flag: --output.json.path'],
    missing: ['broken', 'directory not found'],
    ignored: ['broken', 'no file was checked'],
  },
  'go-vet': {
    findings: ['findings', 'main.go:8:2:assign warning', 'main.go:6:2:printf warning'],
    clean: ['clean'],
    doesNotCompile: ['findings', 'broken/b.go:3:23: error'],
    syntax: ['findings', 'syntax/s.go:3:9: error'],
    all: [
      'findings',
      'broken/b.go:3:23: error',
      'syntax/s.go:3:9: error',
      'main.go:8:2:assign warning',
      'main.go:6:2:printf warning',
    ],
    ignored: ['broken', 'no file was checked'],
    missing: ['broken', 'directory not found'],
  },
  clippy: {
    findings: [
      'findings',
      'src/main.rs:2:9:unused_variables error',
      'src/main.rs:4:8:clippy::len_zero error',
      'src/main.rs:5:24:clippy::print_literal error',
      'src/main.rs:3:13:clippy::useless_vec error',
    ],
    clean: ['clean'],
    doesNotCompile: ['findings', 'src/main.rs:2:20:E0425 error', 'src/main.rs:3:18:E0308 error'],
    // Run in crates/a, where the tool names files from the root of its workspace.
    member: ['findings', 'src/lib.rs:1:25:unused_variables warning', 'src/lib.rs:1:37:clippy::needless_return warning'],
    missing: ['broken', 'could not find `Cargo.toml`'],
    notInstalled: ['broken', 'no such command'],
  },
  'cargo-check': {
    findings: ['findings', 'src/main.rs:2:20:E0425 error', 'src/main.rs:3:18:E0308 error'],
    clean: ['clean'],
  },
  javac: {
    findings: [
      'findings',
      'src/x/Bad.java:4:20: error',
      'src/x/Bad.java:5:14:rawtypes warning',
      'src/x/Bad.java:5:27:rawtypes warning',
      'src/x/Bad.java:5:46: error',
    ],
    warnings: [
      'findings',
      'src/x/Warn.java:3:32:rawtypes warning',
      'src/x/Warn.java:3:45:rawtypes warning',
      'src/x/Warn.java:3:63:unchecked warning',
    ],
    notes: ['clean'],
    clean: ['clean'],
    missing: ['broken', 'file not found: nothing.java'],
  },
  'maven-compile': {
    findings: [
      'findings',
      'src/main/java/x/Bad.java:5:14: warning',
      'src/main/java/x/Bad.java:5:27: warning',
      'src/main/java/x/Warn.java:3:32: warning',
      'src/main/java/x/Warn.java:3:45: warning',
      'src/main/java/x/Warn.java:3:63: warning',
      'src/main/java/x/Bad.java:4:20: error',
      'src/main/java/x/Bad.java:5:46: error',
    ],
    clean: ['clean'],
    wrongSetting: ['broken', 'maven-compiler-plugin:99.9'],
  },
  'gradle-compile': {
    findings: ['findings', 'src/main/java/com/example/Sums.java:5:23: error'],
    kotlin: ['findings', 'src/main/kotlin/Main.kt:2:19: error', 'src/main/kotlin/Main.kt:3:16: error'],
    kotlinWarnings: ['findings', 'src/main/kotlin/Main.kt:3:14: warning'],
    clean: ['clean'],
    again: ['clean'],
    wrongSetting: ['broken', "Task 'compileNothing' not found"],
  },
  'clang-tidy': {
    findings: [
      'findings',
      'main.c:2:25:clang-diagnostic-unused-variable warning',
      'main.c:4:18:clang-diagnostic-format warning',
    ],
    clean: ['clean'],
    doesNotCompile: ['findings', 'main.c:1:25:clang-diagnostic-error error'],
    noDatabase: ['broken', 'compilation database'],
    missing: ['broken', 'no input files'],
  },
  'cmake-build': {
    findings: ['findings', 'main.c:2:25:-Wunused-variable warning', 'main.c:4:12:-Wformat= warning'],
    clean: ['clean'],
    doesNotCompile: ['findings', 'main.c:1:25: error'],
    header: ['findings', 'main.c:1:10: error'],
    link: ['broken', 'in function `main'],
    missing: ['broken', 'is not a directory'],
  },
  'dotnet-build': {
    findings: ['findings', 'Sums.cs:8:20:CS0103 error', 'Sums.cs:7:13:CS0219 warning'],
    warnings: ['findings', 'Sums.cs:7:13:CS0219 warning'],
    clean: ['clean'],
    missing: ['broken', 'MSB1009'],
    wrongSetting: ['broken', 'MSB1003'],
    noPackage: ['broken', 'NU1301: Unable to load the service index'],
    noSdk: ['broken', 'No .NET SDKs were found.'],
    badProject: ['findings', 'Sums.csproj:4:20:MSB4025 error'],
    badFramework: [
      'findings',
      '/usr/lib/dotnet/sdk/10.0.105/Sdks/Microsoft.NET.Sdk/targets/Microsoft.NET.TargetFrameworkInference.targets:184:5:NETSDK1045 error',
    ],
  },
  rubocop: {
    findings: [
      'findings',
      'bad.rb:1:1:Lint/UselessAssignment warning',
      'bad.rb:1:1:Style/FrozenStringLiteralComment info',
      'bad.rb:3:3:Style/StringLiterals info',
    ],
    clean: ['clean'],
    syntax: ['findings', 'syntax.rb:2:1:Lint/Syntax error'],
    ignored: ['broken', 'no file was checked'],
  },
  phpstan: {
    findings: ['findings', 'src/Bad.php:4:1:variable.undefined error'],
    clean: ['clean'],
    wrongSetting: ['broken', 'was not matched'],
    missing: ['broken', 'does not exist'],
    trait: ['findings', 'src/Named.php:7:1:variable.undefined error'],
  },
  phpcs: {
    findings: [
      'findings',
      'bad.php:2:1:PEAR.Commenting.FileComment.Missing error',
      'bad.php:2:1:PEAR.Commenting.FunctionComment.Missing error',
      'bad.php:2:15:PEAR.Functions.FunctionDeclaration.BraceOnSameLine error',
      'bad.php:2:15:PEAR.Functions.FunctionDeclaration.ContentAfterBrace error',
      'bad.php:2:26:PEAR.WhiteSpace.ScopeClosingBrace.Line error',
    ],
    clean: ['clean'],
    missing: ['broken', 'does not exist'],
  },
  credo: {
    findings: [
      'findings',
      'lib/bad.ex:3:5:Credo.Check.Warning.IoInspect warning',
      'lib/bad.ex:1:11:Credo.Check.Readability.ModuleDoc info',
    ],
    clean: ['clean'],
    notInstalled: ['broken', 'could not be found'],
    notFetched: ['broken', 'Could not find an SCM for dependency :credo'],
    withoutFile: ['findings', '.:1:1:Credo.Check.Warning.MissedMetadataKeyInLoggerConfig warning'],
  },
  swiftlint: {
    findings: ['findings', 'Sources/Bad.swift:3:9:force_cast error', 'Sources/Bad.swift:1:1:file_length warning'],
    clean: ['clean'],
    ignored: ['broken', 'no file was checked'],
  },
  'zig-build': {
    findings: ['findings', 'src/root.zig:3:16: error'],
    withoutSummary: ['findings', 'src/root.zig:3:16: error'],
    version16: ['findings', 'src/root.zig:3:16: error'],
    inBuildFile: ['findings', 'build.zig:9:22: error'],
    cleanSummary: ['clean'],
    clean: ['clean'],
    wrongSetting: ['broken', 'no build.zig file found'],
  },
  shellcheck: {
    findings: [
      'findings',
      'bad.sh:2:6:SC2086 info',
      'bad.sh:3:6:SC2154 warning',
      'bad.sh:3:6:SC2086 info',
      'bad.sh:3:9:SC3014 warning',
      'bad.sh:4:1:SC2164 warning',
    ],
    clean: ['clean'],
    syntax: ['findings', 'syntax.sh:2:1:SC1009 info', 'syntax.sh:2:10:SC1073 error', 'syntax.sh:3:1:SC1072 error'],
    missing: ['broken', 'does not exist'],
  },
};

test('every tool that a detector may name has a linter, and recordings', () => {
  expect(linters.map(({ name }) => name).toSorted()).toEqual(lintTools.toSorted());
  expect(Object.keys(expected).toSorted()).toEqual(lintTools.toSorted());
});

describe.each(linters)('$name', (linter) => {
  const runs = recordings(linter.name);

  test('has an expectation for each recording', () => {
    expect(Object.keys(expected[linter.name] ?? {})).toEqual(Object.keys(runs));
  });

  test.each(Object.entries(runs))('is understood: %s', (name, run) => {
    const report = linter.read(toOutput(run));
    const [state, ...rest] = expected[linter.name]?.[name] ?? [];
    expect(report.state).toBe(state);
    if (report.findings.length > 0) return expect(toLines(report)).toEqual(rest);
    for (const part of rest) expect(report.reason).toContain(part);
    expect(report.reason === undefined).toBe(state === 'clean');
  });

  test('says nothing green of what was killed, or failed after a clean answer', () => {
    for (const run of Object.values(runs).filter(({ exitCode }) => exitCode === 0))
      for (const exitCode of [null, 2, 3, 4, 64, 101, 124, 127, 137, 255])
        expect(linter.read({ ...toOutput(run), exitCode }).state).not.toBe('clean');
  });

  test('says nothing green of half an answer with findings', () => {
    const { findings } = runs;
    if (!findings) throw new Error('no recording with findings');
    const { stdout, stderr } = toOutput(findings);
    for (let part = 1; part < 40; part++) {
      const cut = (text: string) => text.slice(0, Math.floor((text.length * part) / 40));
      const output = { ...toOutput(findings), stdout: cut(stdout), stderr: cut(stderr) };
      expect(linter.read(output).state, cut(stdout + stderr)).not.toBe('clean');
    }
  });
});
