import { z } from 'zod';
import { defineLinter, withFiles, withOptions, withoutOptions } from '../core/project-tools/linter.ts';
import { noAnswerReport, parseAnswer, toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';

const Report = z.object({
  version: z.int(),
  diagnostics: z.array(
    z.object({
      filename: z.string(),
      range: z.object({ start: z.object({ line: z.int(), col: z.int() }) }),
      message: z.string(),
      code: z.string(),
    }),
  ),
  errors: z.array(z.object({ file_path: z.string(), message: z.string() })),
});

export const denoLint = defineLinter({
  name: 'deno-lint',
  scope: 'files',
  toArgv: (argv, files) => withOptions(withoutOptions(withFiles(argv, files), ['--fix']), '--json'),
  read(output) {
    const report = parseAnswer(Report, output.stdout);
    if (!report) return /No target files found/.test(output.stderr) ? nothing(output) : noAnswerReport(output);
    const found = report.diagnostics.map(({ filename, range: { start }, message, code }) => ({
      file: toRelative(toPath(filename), output.directory),
      // Lines are counted from 1, columns from 0.
      ...{ line: start.line, column: start.col + 1, rule: code, message, severity: 'warning' as const },
    }));
    const failed = report.errors.map(({ file_path, message }) => toSyntaxError(file_path, message, output.directory));
    return toLintReport(output, { findings: [...failed, ...found], isClean: true });
  },
});

function nothing(output: Parameters<typeof toLintReport>[0]) {
  return toLintReport(output, { findings: [], isClean: false, isEmpty: true });
}

/** The position stands at the end of the text: `at file:///src/a.ts:1:7`. */
function toSyntaxError(path: string, text: string, directory: string) {
  const [, line = '1', column = '1'] = /:(\d{1,9}):(\d{1,9})$/.exec(text.slice(-100)) ?? [];
  const [message = ''] = text.split('\n');
  const file = toRelative(toPath(path), directory);
  return { file, line: Number(line), column: Number(column), rule: '', message, severity: 'error' as const };
}

function toPath(name: string): string {
  try {
    return name.startsWith('file://') ? decodeURIComponent(name) : name;
  } catch {
    return name;
  }
}
