import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { CoverageTool } from '../project-tools/coverage-tool.ts';
import { toWorkspacePath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tools/tool.ts';
import { findTestFiles } from './find-test-files.ts';
import { measureTestFile } from './measure-test-file.ts';
import { type MeasuredFile, mergeCoverage } from './merge-coverage.ts';

interface CoverageCall {
  readonly profile: Profile;
  /** Test files from the project root. Empty: all. */
  readonly files: readonly string[];
  /** Time for all files together. */
  readonly timeoutMs: number;
}

/** All paths are from the workspace root. */
export const CollectedCoverage = z.object({
  tool: z.string().optional().describe('The coverage tool; absent if no tool here can measure these tests'),
  measured: z.array(z.string()),
  notMeasured: z.array(z.object({ file: z.string(), reason: z.string() })),
  reason: z.string().optional().describe('Why nothing was measured'),
});
export type CollectedCoverage = z.output<typeof CollectedCoverage>;

const maxTestFiles = 200;
/** One test file without a result may be broken; if the first two have none, the tool is at fault. */
const maxFruitless = 2;

/**
 * Measures each test file in a run of its own: only then is it known which test executed a line. Stores the lines for
 * `tests_covering`, and reports the files that were not measured.
 */
export async function collectCoverage(call: CoverageCall, context: ToolContext): Promise<CollectedCoverage> {
  const { profile } = call;
  const { checks, files } = context.workspace;
  const name = profile.test?.tool ?? 'no test command';
  const tool = checks.coverageTool(name);
  if (!tool) return { measured: [], notMeasured: [], reason: `no coverage tool for ${name}` };
  const { isTestFile } = tool;
  const found = await findTestFiles({ files, directory: profile.directory, isTestFile });
  const wanted = call.files.length > 0 ? call.files : found;
  if (wanted.length === 0)
    return { tool: tool.name, measured: [], notMeasured: [], reason: 'no test files were found' };
  const results = await measureAll(wanted, { call, context, tool });
  const all = call.files.length > 0 ? undefined : found.map((file) => toWorkspacePath(file, profile));
  await checks.results.saveCoverage(coverageKey(profile), (kept) => mergeCoverage(kept, results, all));
  return {
    tool: tool.name,
    measured: results.flatMap(({ file, result }) => (result && 'measured' in result ? [file] : [])),
    notMeasured: results.flatMap(({ file, result }) => (result && 'reason' in result ? [{ file, ...result }] : [])),
  };
}

function coverageKey({ language, directory }: Pick<Profile, 'language' | 'directory'>): string {
  return `${language}:${directory}`;
}

interface MeasureAllOptions {
  readonly call: CoverageCall;
  readonly context: ToolContext;
  readonly tool: CoverageTool;
}

/** Measures one file after the other: tests that share a port or a file would disturb each other. */
async function measureAll(
  wanted: readonly string[],
  { call, context, tool }: MeasureAllOptions,
): Promise<MeasuredFile[]> {
  const { profile, timeoutMs } = call;
  const { session, workspace, signal } = context;
  if (!profile.test) throw new AppError('E_NO_PROJECT', `no test command detected (${profile.language})`);
  const [test, runner, files] = [profile.test, workspace.checks.testRunner(profile.test.tool), workspace.files];
  const deadline = performance.now() + timeoutMs;
  const results: MeasuredFile[] = [];
  await session.sandboxes.use(workspace.name, async (sandbox) => {
    const measuring = { tool, runner, test, profile, files, sandbox, signal, context };
    for (const file of wanted) {
      const left = deadline - performance.now();
      const obstacle = whyNotTried(results, left);
      const result =
        obstacle === undefined ? await measureTestFile(file, left, measuring).catch(toReason) : { reason: obstacle };
      results.push({ file: toWorkspacePath(file, profile), result });
    }
  });
  return results;
}

/**
 * A missing coverage tool is only a reason, not an error: the tests themselves have run, and their results must be
 * returned.
 */
function toReason(thrown: unknown): { reason: string } {
  if (AppError.is(thrown) && thrown.code === 'E_TOOL_MISSING') return { reason: thrown.message };
  throw thrown;
}

function whyNotTried(results: readonly MeasuredFile[], leftMs: number): string | undefined {
  if (leftMs <= 0) return 'time ran out';
  if (results.length >= maxTestFiles) return `only ${maxTestFiles} are measured at once; name it in \`files\``;
  const tried = results.flatMap(({ result }) => result ?? []);
  const [first] = tried;
  const isFruitless = tried.length >= maxFruitless && tried.every((result) => 'reason' in result);
  return isFruitless && first && 'reason' in first ? first.reason : undefined;
}

const shownFiles = 10;

export function renderCoverage({ tool, measured, notMeasured, reason }: CollectedCoverage): string {
  if (reason !== undefined) return `coverage: not measured: ${reason}\n`;
  const next = measured.length > 0 ? '; ask tests_covering' : '';
  const head = `coverage: ${measured.length} test file(s) measured with ${tool}${next}`;
  const rest = notMeasured.slice(0, shownFiles).map(({ file, reason: why }) => `  ${file}: ${why}`);
  const more = notMeasured.length > shownFiles ? [`  ... and ${notMeasured.length - shownFiles} more`] : [];
  const missing = notMeasured.length > 0 ? [`not measured (${notMeasured.length}):`, ...rest, ...more] : [];
  return [head, ...missing, ''].join('\n');
}
