import { z } from 'zod';
import { type Covering, findCovering } from '../core/coverage/find-covering.ts';
import { defineTool } from '../core/tool.ts';

const maxShown = 200;

export const testsCovering = defineTool({
  name: 'tests_covering',
  aliases: ['TestsCovering'],
  title: 'Which tests cover a line',
  description:
    'Which test files ran a file, or one line of it, by what was measured when run_tests was last called with ' +
    '`coverage: true`. Only lines that really ran count. Says so when the file has changed since.',
  access: 'read',
  reach: 'one',
  paths: ['file'],
  idempotent: true,
  input: z.object({
    file: z.string().min(1).describe('Source file, from the workspace root'),
    line: z.int().min(0).default(0).describe('One line of it; 0 for any'),
  }),
  argumentAliases: { file_path: 'file', path: 'file' },
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
    const found = await findCovering({ file, line }, workspace);
    const { tests, changed, notMeasured, hasCoverage } = found;
    const structured = { tests: tests.slice(0, maxShown), total: tests.length, hasCoverage };
    return {
      text: render(found, line),
      structured: { ...structured, file: found.file, line, isStale: changed.length > 0, notMeasured },
    };
  },
});

function render(found: Covering, line: number): string {
  if (!found.hasCoverage) return 'no coverage data yet — run `run_tests` first, with `coverage: true`';
  const { file, tests } = found;
  const place = line > 0 ? `${file}:${line}` : file;
  const more = tests.length > maxShown ? [`... (${tests.length - maxShown} more truncated)`] : [];
  const head =
    tests.length === 0
      ? [`no coverage found for ${place}`]
      : [`${tests.length} test file(s) cover ${place}:`, '', ...tests.slice(0, maxShown), ...more];
  const notes = notesOn(found);
  return [...head, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

const maxNamed = 5;

/** What would make the answer another one. */
function notesOn({ file, changed, notMeasured, inexact }: Covering): string[] {
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
