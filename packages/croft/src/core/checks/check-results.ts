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

/** The last test run of a project, as it is stored. */
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
  /** Only some tests were requested: the run says nothing about the others. */
  isPart: z.literal(true).optional(),
  /** When the run ended, in milliseconds since 1970. */
  endedAt: z.number(),
});
export type TestRun = z.output<typeof TestRun>;

/**
 * The source lines that one test file executed: `1-3,7` by source file. Each version is that of the executed content.
 */
export const MeasuredTest = z.object({
  version: z.string(),
  sources: z.record(z.string(), z.object({ version: z.string(), lines: z.string() })),
  /** Sources that were executed, but whose lines are unknown. */
  inexact: z.array(z.string()),
});
export type MeasuredTest = z.output<typeof MeasuredTest>;

/** Coverage of one project, by test file. All paths are from the workspace root. */
export const ProjectCoverage = z.object({
  tests: z.record(z.string(), MeasuredTest),
  notMeasured: z.array(z.string()),
});
export type ProjectCoverage = z.output<typeof ProjectCoverage>;

const StoredCheckResults = z.object({ runs: z.array(TestRun), coverage: z.record(z.string(), ProjectCoverage) });
type StoredCheckResults = z.output<typeof StoredCheckResults>;

/** The check results of a workspace. They outlive the server. */
export interface CheckResults {
  load(): Promise<StoredCheckResults>;
  saveRun(run: TestRun): Promise<void>;
  /** Saves the coverage of one project, named by its directory and language. */
  saveCoverage(project: string, toNew: (kept: ProjectCoverage | undefined) => ProjectCoverage): Promise<void>;
}

/** Stores one value, such as in a file or a row. */
interface ValueStore {
  read(): Promise<unknown>;
  write(value: unknown): Promise<void>;
}

const maxRuns = 64;
const noResults: StoredCheckResults = { runs: [], coverage: {} };

export function createCheckResults(store: ValueStore): CheckResults {
  let last: Promise<unknown> = Promise.resolve();
  const load = async () => StoredCheckResults.catch(noResults).parse(await store.read());
  /** Runs changes one after the other: two that end together would lose one. */
  const change = (toNew: (kept: StoredCheckResults) => StoredCheckResults): Promise<void> => {
    const done = last.then(async () => store.write(toNew(await load())));
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
