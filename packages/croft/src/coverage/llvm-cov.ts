import { type CoverageTool, defineCoverageTool } from '../core/coverage/coverage.ts';

/** Works where `cargo-llvm-cov` and the LLVM tools are installed, and never installs them itself. */
export const llvmCov: CoverageTool = defineCoverageTool({
  name: 'cargo llvm-cov',
  tools: ['cargo-test'],
  isTestFile: (path) => targetOf(path) !== undefined,
  toRun({ argv: [program], testFile, place }) {
    const target = targetOf(testFile);
    if (!target) return undefined;
    return {
      argv: [program, 'llvm-cov', '--lcov', `--output-path=${place}`, '--ignore-run-fail', ...target],
      environment: { CARGO_LLVM_COV_SETUP: 'no', CARGO_NET_OFFLINE: 'true' },
    };
  },
  toReport: ({ place }) => ['cat', place],
  read: async ({ text }) => {
    const files = readLcov(text);
    return files.size === 0 ? undefined : { files };
  },
});

/** The tests inside of a library's sources run as one program, which has the name of its first file. */
function targetOf(path: string): string[] | undefined {
  if (path === 'src/lib.rs') return ['--lib'];
  if (path === 'src/main.rs') return ['--bins'];
  const name = path.match(/^tests\/([\w-]{1,200})(?:\.rs|\/main\.rs)$/)?.[1];
  return name === undefined ? undefined : ['--test', name];
}

/** Files of which a line ran: `SF:` names one, and `DA:line,count` counts until the next. */
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
