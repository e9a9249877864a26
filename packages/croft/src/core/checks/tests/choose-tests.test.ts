import { expect, test } from 'vitest';
import * as runners from '../../../test-runners/index.ts';
import { rejectUnsupportedSelection } from './choose-tests.ts';

test.each([
  [runners.swiftTest, ['swift', 'test']],
  [runners.dotnetTest, ['dotnet', 'test']],
] as const)('a test runner that silently skips unknown files takes one file at a time', (runner, argv) => {
  expect(() => rejectUnsupportedSelection(runner, [...argv], { files: ['One.x', 'Helpers.x'] })).toThrow(
    'ask for one file at a time',
  );
  expect(() => rejectUnsupportedSelection(runner, [...argv], { files: ['One.x'] })).not.toThrow();
  expect(() => rejectUnsupportedSelection(runner, [...argv], { files: [] })).not.toThrow();
});
