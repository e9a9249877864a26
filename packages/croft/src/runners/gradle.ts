import { withFiles } from '../core/checks/linter.ts';
import { defineTestRunner, type TestRequest } from '../core/checks/test-runner.ts';
import { toJvmClass, toJvmFile } from '../core/readers/jvm-tests.ts';
import { readJunit } from '../core/readers/read-junit.ts';
import { namesOf, unique } from '../core/readers/read-tests.ts';
import type { JunitCase } from '../lib/junit.ts';

export const gradle = defineTestRunner({
  name: 'gradle',
  cannotPick: () => [],
  reports: { directory: 'build/test-results', suffix: '.xml' },
  toArgv(argv, request) {
    const [program, ...rest] = withFiles(argv, []);
    const at = rest.lastIndexOf('test');
    // Otherwise it calls tests up to date that it did not run, and there is no report of this run.
    const tasks = at < 0 ? rest : [...rest.slice(0, at), 'cleanTest', ...rest.slice(at)];
    const chosen = toPatterns(request).map((pattern) => `--tests=${pattern}`);
    return [program, ...tasks, ...chosen, '--continue', '--console=plain'];
  },
  read: (output) => readJunit(output, { toName: toTestName, toId: toTestName, toFile: toJvmFile }),
});

const toTestName = ({ className, name }: JunitCase) => `${className}.${name.replace(/\(\)$/, '')}`;

function toPatterns({ files, name, again }: TestRequest): string[] {
  if (again) return (namesOf(again) ?? []).map(toExact);
  const classes = unique(files.map(toJvmClass));
  if (name === undefined) return classes.map((one) => `*${one}`);
  return (classes.length > 0 ? classes : ['']).map((one) => `*${one}*.*${name.replaceAll('*', '')}*`);
}

/** A parameter in brackets is no part of what can be asked for. */
function toExact(id: string): string {
  return id.replace(/[([{].*$/s, '*').replace(/\*+/g, '*');
}
