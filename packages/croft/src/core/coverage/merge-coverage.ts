import type { ProjectCoverage } from '../checks/check-results.ts';
import type { Measurement } from './measure-test-file.ts';

export interface MeasuredFile {
  /** Path from the workspace root. */
  readonly file: string;
  readonly result: Measurement;
}

/** Sources of all tests together: a few megabytes. */
const maxStoredSources = 20_000;

/**
 * Merges new results into stored coverage. Test files that were not measured now keep their old coverage, unless `all`
 * says that they are gone. Coverage beyond the limit counts as not measured.
 */
export function mergeCoverage(
  stored: ProjectCoverage | undefined,
  results: readonly MeasuredFile[],
  all: readonly string[] | undefined,
): ProjectCoverage {
  const existing = all && new Set(all);
  const isExisting = (file: string) => !existing || existing.has(file);
  const before = Object.entries(stored?.tests ?? {}).filter(([file]) => isExisting(file));
  const now = results.flatMap(({ file, result }) =>
    result && 'measured' in result ? [[file, result.measured] as const] : [],
  );
  const tests = limitSources(Object.fromEntries([...before, ...now]));
  const failed = results.flatMap(({ file, result }) => (result && 'reason' in result ? [file] : []));
  const wanted = [...(stored?.notMeasured ?? []).filter(isExisting), ...failed, ...now.map(([file]) => file)];
  return { tests, notMeasured: [...new Set(wanted)].filter((file) => !Object.hasOwn(tests, file)) };
}

function limitSources(tests: ProjectCoverage['tests']): ProjectCoverage['tests'] {
  let sources = 0;
  const fitting = Object.entries(tests).filter(([, test]) => {
    sources += Object.keys(test.sources).length + test.inexact.length;
    return sources <= maxStoredSources;
  });
  return Object.fromEntries(fitting);
}
