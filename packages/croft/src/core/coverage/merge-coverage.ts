import type { Coverage } from '../checks/check-results.ts';
import type { Measurement } from './measure-test-file.ts';

export interface FileResult {
  /** Of the workspace. */
  readonly file: string;
  readonly result: Measurement;
}

/** How many sources of how many tests: a few megabytes. */
const maxKeptSources = 20_000;

/**
 * What was measured before counts on for test files that were not measured now, unless `all` says that they are gone.
 * What does not fit counts as not measured.
 */
export function mergeCoverage(
  kept: Coverage | undefined,
  results: readonly FileResult[],
  all: readonly string[] | undefined,
): Coverage {
  const there = all && new Set(all);
  const isThere = (file: string) => !there || there.has(file);
  const before = Object.entries(kept?.tests ?? {}).filter(([file]) => isThere(file));
  const now = results.flatMap(({ file, result }) =>
    result && 'measured' in result ? [[file, result.measured] as const] : [],
  );
  const tests = cut(Object.fromEntries([...before, ...now]));
  const failed = results.flatMap(({ file, result }) => (result && 'reason' in result ? [file] : []));
  const wanted = [...(kept?.notMeasured ?? []).filter(isThere), ...failed, ...now.map(([file]) => file)];
  return { tests, notMeasured: [...new Set(wanted)].filter((file) => !Object.hasOwn(tests, file)) };
}

function cut(tests: Coverage['tests']): Coverage['tests'] {
  let sources = 0;
  const fitting = Object.entries(tests).filter(([, test]) => {
    sources += Object.keys(test.sources).length + test.inexact.length;
    return sources <= maxKeptSources;
  });
  return Object.fromEntries(fitting);
}
