import { describe, expect, test } from 'vitest';
import { hasToolchains } from '../support/toolchains.ts';
import { describeEcosystem } from './describe-ecosystem.ts';
import { addBiome, addTypeScript, shareProjects } from './project.ts';

await describeEcosystem('a Node package with node:test, Biome and TypeScript', {
  toolchains: ['node'],
  fixture: 'node',
  language: 'node',
  source: 'src/sums.js',
  tests: 'test/sums.test.js',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['export function add(', 'export function add(('],
  program: 'node',
  prepare(projectTree) {
    projectTree.put('biome.json', JSON.stringify({ files: { includes: ['**', '!node_modules'] } }));
    const compilerOptions = { strict: true, skipLibCheck: true, types: [], lib: ['es2022'] };
    projectTree.put('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
    projectTree.put('src/label.ts', "export const label: string = 'sums';\n");
    addBiome(projectTree, '');
    addTypeScript(projectTree, '');
  },
  checks: [
    {
      tool: 'run_lint',
      toolchains: [],
      file: 'src/loose.js',
      text: 'export const isSame = (one, other) => one == other;\n',
      finding: { line: 1, rule: expect.stringContaining('noDoubleEquals') },
    },
    {
      tool: 'run_typecheck',
      toolchains: [],
      file: 'src/wrong.ts',
      text: "export const fine = 1;\nexport const wrong: number = 'text';\n",
      finding: { line: 2, rule: 'TS2322' },
    },
  ],
});

describe.skipIf(!(await hasToolchains('node')))('node:test', () => {
  const { projectTree, call } = shareProjects({ '': 'node' });

  test('runs a failed test again by its file, if the failure is in code that it calls', async () => {
    const source = projectTree.read('src/sums.js');
    projectTree.put('src/sums.js', source.replace('return left + right;', "throw new Error('bad');"));
    expect((await call('run_tests')).structured).toMatchObject({ state: 'failed', runs: [{ passed: 2, failed: 1 }] });
    const again = (await call('run_failing_tests')).structured;
    projectTree.put('src/sums.js', source);
    expect(again).toMatchObject({ state: 'failed', runs: [{ passed: 0, failed: 1, failures: [{ name: 'adds' }] }] });
  });
});
