import { z } from 'zod';

const Failure = z.object({
  name: z.string(),
  file: z.string().optional(),
  line: z.int().optional(),
  message: z.string(),
  diff: z.string().optional(),
  id: z.string().optional(),
  isBuild: z.literal(true).optional(),
});

/** The last run of a project's tests, as it is kept. */
export const TestRun = z.object({
  language: z.string(),
  directory: z.string(),
  tool: z.string(),
  state: z.enum(['passed', 'failed', 'empty', 'broken', 'unreadable']),
  passed: z.int().nullable(),
  failed: z.int(),
  skipped: z.int().nullable(),
  failures: z.array(Failure),
  reason: z.string().optional(),
  /** When it ended, in milliseconds since 1970. */
  endedAt: z.number(),
});
export type TestRun = z.output<typeof TestRun>;

/** What ran while one test file did, by source file: lines as `1-3,7`. Versions are of what ran. */
export const MeasuredTest = z.object({
  version: z.string(),
  sources: z.record(z.string(), z.object({ version: z.string(), lines: z.string() })),
  /** Sources that ran too, but whose lines are not known. */
  inexact: z.array(z.string()),
});
export type MeasuredTest = z.output<typeof MeasuredTest>;

/** Of one project, by test file. All paths are of the workspace. */
export const Coverage = z.object({ tests: z.record(z.string(), MeasuredTest), notMeasured: z.array(z.string()) });
export type Coverage = z.output<typeof Coverage>;

export const KeptResults = z.object({ runs: z.array(TestRun), coverage: z.record(z.string(), Coverage) });
export type KeptResults = z.output<typeof KeptResults>;

/** What is known of a workspace's checks. Outlives the server. */
export interface CheckResults {
  load(): Promise<KeptResults>;
  saveRun(run: TestRun): Promise<void>;
  /** Of one project, by its directory and language. */
  saveCoverage(project: string, toNew: (kept: Coverage | undefined) => Coverage): Promise<void>;
}

/** Something that keeps one value under a name: a file, a row. */
export interface Shelf {
  read(): Promise<unknown>;
  write(value: unknown): Promise<void>;
}

const maxRuns = 64;
const nothing: KeptResults = { runs: [], coverage: {} };

export function createCheckResults(shelf: Shelf): CheckResults {
  let last: Promise<unknown> = Promise.resolve();
  const load = async () => KeptResults.catch(nothing).parse(await shelf.read());
  /** One after the other, or two that end together would lose one. */
  const change = (toNew: (kept: KeptResults) => KeptResults): Promise<void> => {
    const done = last.then(async () => shelf.write(toNew(await load())));
    last = done.catch(() => {});
    return done;
  };
  return {
    load: () => last.then(load),
    saveRun: (run) => change((kept) => ({ ...kept, runs: [run, ...kept.runs.filter(isOther(run))].slice(0, maxRuns) })),
    saveCoverage: (project, toNew) =>
      change((kept) => ({ ...kept, coverage: { ...kept.coverage, [project]: toNew(kept.coverage[project]) } })),
  };
}

function isOther({ language, directory }: TestRun): (run: TestRun) => boolean {
  return (run) => run.language !== language || run.directory !== directory;
}
