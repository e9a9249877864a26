import { z } from 'zod';
import { type CoveringTests, findCoveringTests } from '../core/coverage/find-covering-tests.ts';
import { defineTool } from '../core/tools/tool.ts';

const maxShown = 200;

export const testsCovering = defineTool({
  name: 'tests_covering',
  aliases: ['TestsCovering'],
  title: 'Which tests cover a line',
  description:
    'Which test files ran a file, or one line of it, by what was measured when run_tests was last called with ' +
    '`coverage: true`. Only lines that really ran count. Says so when the file has changed since.',
  toolset: 'checks',
  access: 'read',
  reach: 'one',
  paths: ['file'],
  idempotent: true,
  input: z.object({
    file: z.string().min(1).describe('Source file, from the workspace root'),
    line: z.int().min(0).default(0).describe('One line of it; 0 for any'),
  }),
  spellings: { aliases: { file_path: 'file', path: 'file' } },
  output: z.object({
    file: z.string(),
    line: z.int(),
    tests: z.array(z.string()).describe('Test files, sorted; at most 200'),
    total: z.int(),
    hasCoverage: z.boolean().describe('Whether anything was measured in this workspace'),
    isStale: z.boolean().describe('Whether the file, or a test that ran it, has changed since'),
    notMeasured: z.int().describe('How many test files are not counted because they were not measured'),
  }),
  async run({ file, line }, { workspace }) {
    const found = await findCoveringTests({ file, line }, workspace);
    const { tests, changed, notMeasured, hasCoverage } = found;
    const structured = { tests: tests.slice(0, maxShown), total: tests.length, hasCoverage };
    return {
      text: render(found, line),
      structured: { ...structured, file: found.file, line, isStale: changed.length > 0, notMeasured },
      notices: found.hasCoverage ? notesOn(found) : [],
    };
  },
});

function render(found: CoveringTests, line: number): string {
  if (!found.hasCoverage) return 'no coverage data yet — run `run_tests` first, with `coverage: true`';
  const { file, tests } = found;
  const position = line > 0 ? `${file}:${line}` : file;
  const more = tests.length > maxShown ? [`... (${tests.length - maxShown} more truncated)`] : [];
  if (tests.length === 0) return `no coverage found for ${position}`;
  return [`${tests.length} test file(s) cover ${position}:`, '', ...tests.slice(0, maxShown), ...more].join('\n');
}

const maxNamed = 5;

/** Warnings about what may make the answer incomplete or outdated. */
function notesOn({ file, changed, notMeasured, inexact }: CoveringTests): string[] {
  const others = changed.filter((path) => path !== file);
  const named = `${others.slice(0, maxNamed).join(', ')}${others.length > maxNamed ? ', …' : ''}`;
  return [
    ...(changed.includes(file)
      ? [`${file} has changed since coverage was taken: its lines may have moved; run \`run_tests\` again`]
      : []),
    ...(others.length > 0 ? [`changed since coverage was taken: ${named}`] : []),
    ...(inexact.length > 0
      ? [`ran, but it is not known which lines of it: ${inexact.slice(0, maxNamed).join(', ')}`]
      : []),
    ...(notMeasured > 0 ? [`${notMeasured} test file(s) were not measured and are not counted`] : []),
  ];
}
