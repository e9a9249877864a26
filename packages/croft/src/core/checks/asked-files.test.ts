import { expect, test } from 'vitest';
import * as runners from '../../runners/index.ts';
import { mustPick } from './asked-files.ts';

test.each([
  [runners.swiftTest, ['swift', 'test']],
  [runners.dotnetTest, ['dotnet', 'test']],
] as const)('a runner that passes over files without a word is asked for one at a time', (runner, argv) => {
  expect(() => mustPick(runner, [...argv], { files: ['One.x', 'Helpers.x'] })).toThrow('ask for one file at a time');
  expect(() => mustPick(runner, [...argv], { files: ['One.x'] })).not.toThrow();
  expect(() => mustPick(runner, [...argv], { files: [] })).not.toThrow();
});
