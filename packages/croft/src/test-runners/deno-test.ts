import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner } from '../core/project-tools/test-runner.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import {
  escapePattern,
  exactNamesPattern,
  filesOfFailures,
  selectableNames,
} from '../core/readers/tests/to-test-report.ts';

export const denoTest = defineTestRunner({
  name: 'deno-test',
  toArgv(argv, { files, name, again, reportFile }) {
    const [program, ...rest] = withFiles(argv, again ? filesOfFailures(again) : files);
    // A step runs only with the test that contains it.
    const names = selectableNames(again)?.map((one) => one.split(' > ')[0] ?? one);
    const pattern = names ? exactNamesPattern(names) : name === undefined || again ? undefined : escapePattern(name);
    const options = ['--cached-only', `--junit-path=${reportFile}`];
    const at = rest.indexOf('test') + 1;
    const filter = pattern === undefined ? [] : [`--filter=/${pattern}/`];
    return [program, ...rest.slice(0, at), ...options, ...filter, ...rest.slice(at)];
  },
  read: (output) =>
    readJunit(output, { toName: ({ name }) => name, toFile: ({ className }) => className || undefined }),
});
