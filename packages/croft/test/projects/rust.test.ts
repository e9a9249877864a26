import { expect } from 'vitest';
import { describeEcosystem } from './describe-ecosystem.ts';

await describeEcosystem('a Rust package', {
  toolchains: ['rust'],
  fixture: 'rust',
  language: 'rust',
  source: 'src/lib.rs',
  tests: 'tests/sums.rs',
  stops: { adds: 'add(1, 2)', multiplies: 'multiply(3, 4)' },
  breaks: ['left + right', 'left + absent'],
  program: 'cargo',
  checks: [
    {
      tool: 'run_lint',
      file: 'tests/loose.rs',
      text: 'pub fn two() -> i32 {\n    return 2;\n}\n',
      state: 'warnings',
      finding: { line: 2, rule: 'clippy::needless_return' },
    },
    {
      tool: 'run_typecheck',
      file: 'tests/wrong.rs',
      text: 'pub fn two() -> i32 {\n    "two"\n}\n',
      finding: { line: 2, rule: 'E0308', message: expect.stringContaining('mismatched types') },
    },
  ],
});
