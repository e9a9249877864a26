import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner } from '../core/checks/test-runner.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { anyOf, escapePattern, filesOf, namesOf } from '../core/readers/read-tests.ts';

export const denoTest = defineTestRunner({
  name: 'deno-test',
  toArgv(argv, { files, name, again, reportFile }) {
    const [program, ...rest] = withFiles(argv, again ? filesOf(again) : files);
    // A step can only be run with the test that it is in.
    const names = namesOf(again)?.map((one) => one.split(' > ')[0] ?? one);
    const pattern = names ? anyOf(names) : name === undefined || again ? undefined : escapePattern(name);
    const options = ['--cached-only', `--junit-path=${reportFile}`];
    const at = rest.indexOf('test') + 1;
    const filter = pattern === undefined ? [] : [`--filter=/${pattern}/`];
    return [program, ...rest.slice(0, at), ...options, ...filter, ...rest.slice(at)];
  },
  read: (output) =>
    readJunit(output, { toName: ({ name }) => name, toFile: ({ className }) => className || undefined }),
});
