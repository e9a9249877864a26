import { z } from 'zod';
import { defineTool } from '../core/tool.ts';

const maxShown = 200;

export const testsCovering = defineTool({
  name: 'tests_covering',
  aliases: ['TestsCovering'],
  title: 'Which tests cover a line',
  description: 'Which test files ran a file, or one line of it, in the last run of run_tests with coverage.',
  access: 'read',
  reach: 'one',
  idempotent: true,
  input: z.object({
    file: z.string().min(1).describe('Source file, from the workspace root'),
    line: z.int().min(0).default(0).describe('One line of it; 0 for any'),
  }),
  output: z.object({ file: z.string(), line: z.int(), tests: z.array(z.string()), hasCoverage: z.boolean() }),
  async run({ file, line }, { workspace }) {
    const { coverage } = await workspace.checks.results.load();
    const path = file.replace(/^\.\//, '');
    const place = line > 0 ? `${path}:${line}` : path;
    const all = Object.values(coverage).flatMap((project) => Object.entries(project));
    const tests = all
      .filter(([, ran]) => Object.hasOwn(ran, path) && (line === 0 || ran[path]?.includes(line)))
      .map(([test]) => test)
      .sort();
    return {
      text: render(place, tests, all.length > 0),
      structured: { file: path, line, tests, hasCoverage: all.length > 0 },
    };
  },
});

function render(place: string, tests: readonly string[], hasCoverage: boolean): string {
  if (!hasCoverage) return 'no coverage data yet — run `run_tests` with `coverage: true` first';
  if (tests.length === 0) return `no coverage found for ${place}`;
  const more = tests.length > maxShown ? [`... (${tests.length - maxShown} more truncated)`] : [];
  return [`${tests.length} test file(s) cover ${place}:`, '', ...tests.slice(0, maxShown), ...more].join('\n');
}
