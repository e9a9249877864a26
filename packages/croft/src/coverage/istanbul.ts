import { z } from 'zod';
import {
  type CoverageData,
  type CoverageTool,
  defineCoverageTool,
  type ExecutedLines,
} from '../core/project-tools/coverage-tool.ts';
import { readJson } from '../core/readers/reader-helpers.ts';
import { type CountedRange, coveredLines } from '../lib/coverage/covered-lines.ts';

/** An unknown column means the end of the line. */
const Position = z.object({ line: z.int().min(1), column: z.int().min(0).nullish().catch(null) });
const Span = z.object({ start: Position, end: Position });
const Counts = z.record(z.string(), z.number());
const Report = z.record(
  z.string(),
  z.object({
    path: z.string(),
    statementMap: z.record(z.string(), Span),
    s: Counts,
    fnMap: z.record(z.string(), z.object({ decl: Span, loc: Span })).catch({}),
    f: Counts.catch({}),
  }),
);
type FileReport = z.output<typeof Report>[string];

const testFile = /[._-](?:test|spec)\.[cm]?[jt]sx?$|(?:^|\/)__tests__\/(?:.+\/)?[^/]+\.[cm]?[jt]sx?$/;
const reportName = 'coverage-final.json';

const shared = {
  isTestFile: (path: string) => testFile.test(path),
  toReport: ({ dataPath }: { dataPath: string }) => ['cat', `${dataPath}/${reportName}`] as const,
  read: readReport,
};

/** Jest has its own coverage, which refers to the code as it was written. */
export const jestCoverage: CoverageTool = defineCoverageTool({
  name: 'jest --coverage',
  tools: ['jest'],
  ...shared,
  toRun: ({ runnerArgv, dataPath }) => ({
    argv: [
      ...runnerArgv,
      ...['--coverage', '--coverageReporters=json', `--coverageDirectory=${dataPath}`, '--coverageThreshold={}'],
    ],
  }),
});

/** Works where `@vitest/coverage-v8` or `@vitest/coverage-istanbul` is installed. */
export const vitestCoverage: CoverageTool = defineCoverageTool({
  name: 'vitest --coverage',
  tools: ['vitest'],
  ...shared,
  toRun: ({ runnerArgv, dataPath }) => ({
    argv: [
      ...runnerArgv,
      ...['--coverage.enabled', '--coverage.reporter=json', `--coverage.reportsDirectory=${dataPath}`],
      '--coverage.reportOnFailure',
    ],
  }),
});

async function readReport({ text, readText }: CoverageData): Promise<ExecutedLines | undefined> {
  const report = readJson(Report, text);
  if (!report) return undefined;
  const files = new Map<string, number[]>();
  for (const file of Object.values(report)) {
    const source = await readText(file.path);
    if (source !== undefined) files.set(file.path, coveredLines(source, rangesOf(file, createOffsets(source))));
  }
  return { files };
}

type ToOffset = (position: z.output<typeof Position>) => number;

/**
 * Returns the ranges of statements and of functions, from their names on: a function that was not called lies in a
 * statement that ran.
 */
function rangesOf({ statementMap, s, fnMap, f }: FileReport, toOffset: ToOffset): CountedRange[] {
  const statements = Object.entries(statementMap).map(([id, { start, end }]) => ({
    ...{ start: toOffset(start), end: toOffset(end) },
    count: s[id] ?? 0,
  }));
  const functions = Object.entries(fnMap).map(([id, { decl, loc }]) => ({
    ...{ start: toOffset(decl.start), end: toOffset(loc.end) },
    count: f[id] ?? 0,
  }));
  return [...functions, ...statements];
}

function createOffsets(text: string): ToOffset {
  const ends: number[] = [];
  for (const line of text.split('\n')) ends.push((ends.at(-1) ?? -1) + 1 + line.length);
  return ({ line, column }) => {
    const start = line === 1 ? 0 : (ends[line - 2] ?? text.length) + 1;
    const end = ends[line - 1] ?? text.length;
    return Math.min(end, start + (column ?? end));
  };
}
