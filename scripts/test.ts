import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/**
 * Runs all tests. In CI, where fourteen thousand tests share two cores, the files that failed are run a second time, one
 * after the other and with nothing beside them. A file that passes then is named as flaky and is to be mended; a file
 * that fails again fails the run. So does a run with more failures than a busy machine explains.
 */
const maxFlakyFiles = 4;
const flags = process.argv.slice(2);

process.exitCode = process.env.CI === undefined ? runVitest(flags) : runInCi();

function runInCi(): number {
  const directory = mkdtempSync(join(tmpdir(), 'croft-test-report-'));
  try {
    const report = join(directory, 'report.json');
    const code = runVitest([...flags, '--reporter=json', `--outputFile.json=${report}`]);
    const failed = code === 0 ? [] : readFailedFiles(report);
    if (failed.length === 0 || failed.length > maxFlakyFiles) return code;
    console.error(`\nFAILED, and run again alone:\n${failed.map((file) => `  ${file}`).join('\n')}\n`);
    const again = runVitest([...failed, '--no-file-parallelism']);
    if (again === 0) console.error(`\nFLAKY, passed alone:\n${failed.map((file) => `  ${file}`).join('\n')}\n`);
    return again;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Empty also where the run ended without a report: then there is nothing to run again. */
function readFailedFiles(report: string): string[] {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
    return testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(process.cwd(), name));
  } catch {
    return [];
  }
}

interface Report {
  readonly testResults: readonly { readonly name: string; readonly status: string }[];
}

function runVitest(args: readonly string[]): number {
  return (
    spawnSync('vitest', ['run', '--reporter=default', '--reporter=./scripts/find-stuck-test-files.ts', ...args], {
      stdio: 'inherit',
    }).status ?? 1
  );
}
