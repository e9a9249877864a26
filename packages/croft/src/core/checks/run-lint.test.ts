import { describe, expect, test } from 'vitest';
import type { Finding, LintReport } from './linter.ts';
import { about } from './run-lint.ts';

const finding = (file: string, severity: Finding['severity'] = 'warning'): Finding => ({
  ...{ file, line: 1, column: 1, rule: '', message: 'm', severity },
});
const report = (...findings: Finding[]): LintReport => ({ state: 'findings', findings });

describe('a report about some files', () => {
  test('leaves out the others', () => {
    const all = report(finding('a.ts'), finding('b.ts'), finding('src/c.ts'));
    expect(about(all, ['./a.ts', 'src/'], 'project').findings.map(({ file }) => file)).toEqual(['a.ts', 'src/c.ts']);
    expect(about(all, ['src'], 'project').findings).toHaveLength(1);
    expect(about(all, ['sr'], 'project').findings).toEqual([]);
    expect(about(all, ['.'], 'project')).toEqual(all);
    expect(about(all, [], 'build')).toEqual(all);
  });

  test('is clean when only others have findings, unless those may be why', () => {
    const errors = report(finding('b.ts', 'error'));
    expect(about(errors, ['a.ts'], 'project')).toEqual({ state: 'clean', findings: [] });
    expect(about(errors, ['a.ts'], 'build')).toMatchObject({ state: 'broken', findings: [] });
    expect(about(report(finding('b.ts')), ['a.ts'], 'build').state).toBe('clean');
  });

  test.each(['broken', 'unreadable'] as const)('stays %s, with what is known', (state) => {
    const partial = { state, findings: [finding('a.ts'), finding('b.ts')], reason: 'why' };
    expect(about(partial, ['a.ts'], 'project')).toEqual({ state, findings: [finding('a.ts')], reason: 'why' });
    expect(about(partial, ['c.ts'], 'build')).toEqual({ state, findings: [], reason: 'why' });
  });
});
