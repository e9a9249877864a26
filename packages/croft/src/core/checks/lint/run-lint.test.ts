import { describe, expect, test } from 'vitest';
import type { Finding, LintReport } from '../../project-tools/linter.ts';
import { limitToFiles } from './run-lint.ts';

const finding = (file: string, severity: Finding['severity'] = 'warning'): Finding => ({
  ...{ file, line: 1, column: 1, rule: '', message: 'm', severity },
});
const report = (...findings: Finding[]): LintReport => ({ state: 'findings', findings });

describe('a report about some files', () => {
  test('leaves out findings in other files', () => {
    const all = report(finding('a.ts'), finding('b.ts'), finding('src/c.ts'));
    expect(limitToFiles(all, ['./a.ts', 'src/'], 'project').findings.map(({ file }) => file)).toEqual([
      'a.ts',
      'src/c.ts',
    ]);
    expect(limitToFiles(all, ['src'], 'project').findings).toHaveLength(1);
    expect(limitToFiles(all, ['sr'], 'project').findings).toEqual([]);
    expect(limitToFiles(all, ['.'], 'project')).toEqual(all);
    expect(limitToFiles(all, [], 'build')).toEqual(all);
  });

  test('is clean if only other files have findings, unless those may be the cause', () => {
    const errors = report(finding('b.ts', 'error'));
    expect(limitToFiles(errors, ['a.ts'], 'project')).toEqual({ state: 'clean', findings: [] });
    expect(limitToFiles(errors, ['a.ts'], 'build')).toMatchObject({ state: 'broken', findings: [] });
    expect(limitToFiles(report(finding('b.ts')), ['a.ts'], 'build').state).toBe('clean');
  });

  test.each(['broken', 'unreadable'] as const)('stays %s, with the findings that are known', (state) => {
    const partial = { state, findings: [finding('a.ts'), finding('b.ts')], reason: 'why' };
    expect(limitToFiles(partial, ['a.ts'], 'project')).toEqual({ state, findings: [finding('a.ts')], reason: 'why' });
    expect(limitToFiles(partial, ['c.ts'], 'build')).toEqual({ state, findings: [], reason: 'why' });
  });
});
