import { withFiles } from '../core/project-tools/linter.ts';
import { type CheckOutput, defineTestRunner, type TestFailure } from '../core/project-tools/test-runner.ts';
import { toRelative } from '../core/readers/reader-helpers.ts';
import { missingTestReport, selectableNames, toTestReport } from '../core/readers/tests/to-test-report.ts';

export const unittest = defineTestRunner({
  name: 'unittest',
  toArgv: (argv, { files, name, again }) => [
    ...withFiles(argv, again ? (selectableNames(again) ?? []) : files),
    ...(name === undefined || again ? [] : [`-k=*${name.replace(/[*?[\]]/g, '?')}*`]),
  ],
  read(output) {
    const text = output.stderr;
    const ran = [...text.matchAll(/^Ran (\d{1,9}) tests? in /gm)].at(-1);
    const verdict = [...text.matchAll(/^(?:OK|FAILED|NO TESTS RAN)(?: \(([^()]{0,300})\))?$/gm)].at(-1);
    if (!ran || !verdict) return missingTestReport({ ...output, stdout: '' });
    const failures = readFailures(text, output);
    const builds = failures.filter(({ isBuild }) => isBuild);
    const count = (word: string) => Number(verdict[1]?.match(new RegExp(`(?:^|, )${word}=(\\d{1,9})`))?.[1] ?? 0);
    const bad = count('failures') + count('errors') + count('unexpected successes');
    const skipped = count('skipped') + count('expected failures');
    const failed = Math.max(bad, failures.length) - builds.length;
    const passed = Math.max(0, Number(ran[1]) - bad - skipped);
    const broken = builds[0] && `${builds[0].name}: ${builds[0].message}`;
    return toTestReport({ passed, failed, skipped, failures, broken }, output);
  },
});

const rule = `${'='.repeat(70)}\n`;
const heading = /^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (.{1,500}?) \(([\w.<>]{1,500})\)(.{0,300})$/;

function readFailures(text: string, output: CheckOutput): TestFailure[] {
  return text
    .split(rule)
    .slice(1)
    .flatMap((block) => {
      const end = block.indexOf('\n');
      const [, test = '', location = '', parameters = ''] = block.slice(0, Math.max(0, end)).match(heading) ?? [];
      return test === ''
        ? []
        : [toFailure({ test, dottedName: location, parameters, said: bodyOf(block.slice(end)) }, output)];
    });
}

/** Returns the text between the heading of a failure and the next rule. */
function bodyOf(block: string): string {
  const [, said = ''] = block.split(/^-{70}$/m);
  return said.trim();
}

interface Block {
  readonly test: string;
  /** `module.Class.test`, or without the test before Python 3.11. */
  readonly dottedName: string;
  readonly parameters: string;
  readonly said: string;
}

function toFailure({ test, dottedName, parameters, said }: Block, { directory }: CheckOutput): TestFailure {
  const isBuild = dottedName.startsWith('unittest.loader.');
  const id = dottedName.endsWith(`.${test}`) ? dottedName : `${dottedName}.${test}`;
  const frames = [...said.matchAll(/^ {2}File "([^"\n]{1,500})", line (\d{1,9})/gm)];
  const locations = frames.map(([, path = '', line]) => ({ file: toRelative(path, directory), line: Number(line) }));
  const own = locations.findLast(({ file }) => !file.startsWith('/'));
  // The text after the last code line of the traceback, which is indented.
  const end = said
    .split(/^ {4}.*$/m)
    .at(-1)
    ?.trim();
  const message = said.startsWith('Ran ') ? 'it passed, and was expected to fail' : end;
  return {
    name: isBuild ? test : `${id}${parameters}`,
    ...own,
    message: message || said || 'failed',
    ...(isBuild ? { isBuild: true as const } : { id }),
  };
}
