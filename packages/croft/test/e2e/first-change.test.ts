import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createApp, defaultSandboxOptions } from '../../src/app/app.ts';
import { addon } from '../../src/disk/paths/native-addon.ts';
import { makeDirectory } from '../support/harness.ts';

function open(path: string, readOnly = false) {
  if (!addon) throw new Error('the addon is missing; run: npm run setup');
  const walks = vi.spyOn(addon, 'findNames');
  onTestFinished(() => walks.mockRestore());
  const host = { path: '/usr/bin:/bin', home: homedir(), variables: {} };
  const app = createApp({ workspaces: [{ path }], readOnly, host, sandbox: defaultSandboxOptions, onWarning() {} });
  const session = app.newSession('s');
  const { signal } = new AbortController();
  return {
    walks,
    write: (name: string) =>
      app.toolbox
        .call('write', { file_path: name, content: 'text\n' }, { session, signal })
        .then(({ structured }) => structured),
    async [Symbol.asyncDispose]() {
      await session.close();
      await app[Symbol.asyncDispose]();
    },
  };
}

test('the search for control files begins when the workspace is opened, and runs once', async () => {
  using fixture = makeDirectory({
    'deep/er/.git/config': '[core]\n\thooksPath = ../../scripts\n',
    'deep/er/.git/HEAD': '',
  });
  await using app = open(fixture.path);
  expect(app.walks).toHaveBeenCalledTimes(1);
  expect(await app.write('new.txt')).toMatchObject({ path: 'new.txt' });
  expect(app.walks).toHaveBeenCalledTimes(1);
});

test('the first change waits for the search that could forbid it', async () => {
  const config = '[core]\n\thooksPath = ../../scripts\n';
  using fixture = makeDirectory({ 'deep/er/.git/config': config, 'deep/er/.git/HEAD': '', 'scripts/x': '' });
  await using app = open(fixture.path);
  await expect(app.write('scripts/pre-commit')).rejects.toMatchObject({ code: 'E_CONTROL_FILE' });
  expect(existsSync(fixture.at('scripts/pre-commit'))).toBe(false);
});

test('a read-only workspace is not searched', async () => {
  using fixture = makeDirectory({ 'a.txt': '' });
  await using app = open(fixture.path, true);
  expect(app.walks).not.toHaveBeenCalled();
});
