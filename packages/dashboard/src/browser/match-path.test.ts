import { expect, test } from 'vitest';
import { matchPath } from './match-path.ts';

test('a pattern names the parts of a path, decoded', () => {
  expect(matchPath('/workspaces/:id/files', '/workspaces/my%20notes/files')).toEqual({ id: 'my notes' });
  expect(matchPath('/', '/')).toEqual({});
  expect(matchPath('/audit', '/audit/')).toEqual({});
});

test.each(['/workspaces//files', '/workspaces/a/b/files', '/workspaces/%E0%A4%A/files', '/other/a/files'])(
  '%s is not such a path',
  (path) => {
    expect(matchPath('/workspaces/:id/files', path)).toBeUndefined();
  },
);
