import { type CoverageTool, defineCoverageTool } from '../core/project-tools/coverage-tool.ts';

/** Works if `cargo-llvm-cov` and the LLVM tools are installed, and never installs them. */
export const llvmCov: CoverageTool = defineCoverageTool({
  name: 'cargo llvm-cov',
  tools: ['cargo-test'],
  isTestFile: (path) => targetOf(path) !== undefined,
  toRun({ argv: [program], testFile, dataPath }) {
    const target = targetOf(testFile);
    if (!target) return undefined;
    return {
      argv: [program, 'llvm-cov', '--lcov', `--output-path=${dataPath}`, '--ignore-run-fail', ...target],
      environment: { CARGO_LLVM_COV_SETUP: 'no', CARGO_NET_OFFLINE: 'true' },
    };
  },
  toReport: ({ dataPath }) => ['cat', dataPath],
  read: async ({ text }) => {
    const files = readLcov(text);
    return files.size === 0 ? undefined : { files };
  },
});

/**
 * Returns cargo's options for a test file. Tests inside a library's sources run as one program, named after its first
 * file.
 */
function targetOf(path: string): string[] | undefined {
  if (path === 'src/lib.rs') return ['--lib'];
  if (path === 'src/main.rs') return ['--bins'];
  const name = path.match(/^tests\/([\w-]{1,200})(?:\.rs|\/main\.rs)$/)?.[1];
  return name === undefined ? undefined : ['--test', name];
}

/** Reads LCOV: `SF:` begins a file, and `DA:line,count` counts its lines. */
function readLcov(text: string): Map<string, number[]> {
  const files = new Map<string, number[]>();
  let lines: number[] = [];
  for (const row of text.split('\n')) {
    if (row.startsWith('SF:')) {
      lines = files.get(row.slice(3)) ?? [];
      files.set(row.slice(3), lines);
    }
    const [, line, count = '0'] = /^DA:(\d{1,9}),(\d{1,20})/.exec(row) ?? [];
    if (Number(count) > 0 && files.size > 0) lines.push(Number(line));
  }
  return files;
}
