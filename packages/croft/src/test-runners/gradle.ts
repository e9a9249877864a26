import { withFiles } from '../core/project-tools/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/project-tools/test-runner.ts';
import { toJvmClass, toJvmFile } from '../core/readers/tests/jvm-test-files.ts';
import { readJunit } from '../core/readers/tests/read-junit.ts';
import { selectableNames, unique } from '../core/readers/tests/to-test-report.ts';
import type { JunitCase } from '../lib/reports/junit.ts';

export const gradle = defineTestRunner({
  name: 'gradle',
  cannotPick: () => [],
  reports: { directory: 'build/test-results', suffix: '.xml' },
  toArgv(argv, request) {
    const [program, ...rest] = withFiles(argv, []);
    const at = rest.lastIndexOf('test');
    // Without `cleanTest`, Gradle calls tests up to date without running them, and this run has no report.
    const tasks = at < 0 ? rest : [...rest.slice(0, at), 'cleanTest', ...rest.slice(at)];
    const chosen = toPatterns(request).map((pattern) => `--tests=${pattern}`);
    return [program, ...tasks, ...chosen, '--continue', '--console=plain'];
  },
  read: (output) => readJunit(output, { toName: toTestName, toId: toTestName, toFile: toJvmFile }),
});

const toTestName = ({ className, name }: JunitCase) => `${className}.${name.replace(/\(\)$/, '')}`;

function toPatterns({ files, name, again }: TestRequest): string[] {
  if (again) return (selectableNames(again) ?? []).map(toExact);
  const classes = unique(files.map(toJvmClass));
  if (name === undefined) return classes.map((one) => `*${one}`);
  return (classes.length > 0 ? classes : ['']).map((one) => `*${one}*.*${name.replaceAll('*', '')}*`);
}

/** Drops a parameter in brackets, which is not part of a selectable name. */
function toExact(id: string): string {
  return id.replace(/[([{].*$/s, '*').replace(/\*+/g, '*');
}
