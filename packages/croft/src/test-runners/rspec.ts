import { z } from 'zod';
import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { readJson, toRelative } from '../core/readers/reader-helpers.ts';
import {
  filesOfFailures,
  lineIn,
  missingTestReport,
  selectableNames,
  toTestReport,
} from '../core/readers/tests/to-test-report.ts';

const Example = z.object({
  id: z.string().optional(),
  full_description: z.string(),
  status: z.string(),
  file_path: z.string(),
  line_number: z.int().optional().catch(undefined),
  exception: z.object({ message: z.string().default(''), backtrace: z.array(z.string()).nullish() }).nullish(),
});
type Example = z.output<typeof Example>;

const Report = z.object({
  examples: z.array(Example),
  messages: z.array(z.string()).default([]),
  summary: z.object({ errors_outside_of_examples_count: z.int().default(0) }),
});

export const rspec = defineTestRunner({
  name: 'rspec',
  toArgv: (argv, { files, name, again, reportFile }) => [
    ...withFiles(argv, again ? (selectableNames(again) ?? filesOfFailures(again)) : files),
    ...['--no-color', '--format=progress', '--format=json', `--out=${reportFile}`],
    ...(name === undefined || again ? [] : [`--example=${name}`]),
  ],
  read(output) {
    const report = readJson(Report, output.report);
    if (!report) return missingTestReport(output);
    const count = (state: string) => report.examples.filter(({ status }) => status === state).length;
    const failed = report.examples.filter(({ status }) => status === 'failed').map((one) => toFailure(one, output));
    const errors = report.summary.errors_outside_of_examples_count;
    const outside = errors > 0 ? toErrors(report.messages, output) : [];
    const counts = { passed: count('passed'), failed: failed.length, skipped: count('pending') };
    const broken = errors > 0 ? `${errors} error(s) outside of examples: ${outside[0]?.message ?? ''}` : undefined;
    return toTestReport({ ...counts, failures: [...outside, ...failed], broken }, output);
  },
});

function toFailure(example: Example, { directory }: CheckOutput): TestFailure {
  const file = toRelative(example.file_path, directory);
  const stack = example.exception?.backtrace?.join('\n') ?? '';
  return {
    name: example.full_description,
    file,
    line: lineIn(stack, file) ?? example.line_number,
    message: (example.exception?.message ?? 'failed').trim(),
    ...(example.id !== undefined && { id: example.id }),
  };
}

/** Reads `An error occurred while loading ./spec/a_spec.rb.`, followed by the error. */
function toErrors(messages: readonly string[], { directory }: CheckOutput): TestFailure[] {
  return messages.flatMap((said) => {
    const path = said.match(/error occurred while loading (\S{1,500}?)\.?(?: - |$)/m)?.[1];
    if (path === undefined) return [];
    const file = toRelative(path, directory);
    const why = said.slice(0, 4000).match(/^(\w{1,100}(?:::\w{1,100}){0,5}):\n {2}(.{1,500})$/m);
    return [
      {
        name: file,
        file,
        line: lineIn(said, file),
        message: why ? `${why[1]}: ${why[2]}` : said,
        isBuild: true as const,
      },
    ];
  });
}
