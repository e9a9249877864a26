import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRemoteWorkspace } from '../../src/providers/index.ts';
import { serveWorkspaces } from '../../src/runner/serve-workspaces.ts';
import { runIn } from '../contracts/sandbox-run.ts';
import { connectPeers } from '../link/connect-peers.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { openOffer } from './offer-fixture.ts';
import { workspaceRequest } from './ports-fixture.ts';

/** A control file is changed on a runner if both allow it: the account by its sandbox record, the runner by its flag. */
const cases: readonly (readonly [string, readonly string[], readonly string[], boolean])[] = [
  ['both', ['.vscode'], ['.vscode'], true],
  ['the runner alone', ['.vscode'], [], false],
  ['the account alone', [], ['.vscode'], false],
  ['each another', ['.vscode'], ['.claude'], false],
];

test.each(cases)('%s allow it', async (_, own, names, isAllowed) => {
  const { offer, fixture } = await openOffer({ allowControl: own });
  const [server, runner] = connectPeers();
  serveWorkspaces(runner, offer.on(runner));
  const { files, openSandbox } = await createRemoteWorkspace(server, workspaceRequest);
  const allow = { names };
  const changes = {
    write: () => files.write('.vscode/a.json', Buffer.from('{}'), { allow }),
    change: () => files.change('.vscode/b.json', () => ({ bytes: Buffer.from('{}') }), { allow }),
    upload: () => files.upload('.vscode/c.json', piecesOf('{}'), { maxBytes: 10, allow }),
    rename: () => files.rename('a.txt', '.vscode/d.txt', { allow }),
    remove: () => files.remove('.vscode', { recursive: true, signal: new AbortController().signal, allow }),
  };
  const refused = expect.objectContaining({ code: 'E_CONTROL_FILE' });
  for (const [name, change] of Object.entries(changes)) {
    const thrown = await change().then(
      () => undefined,
      (error) => error,
    );
    if (name === 'remove' && !existsSync(fixture.at('work/.vscode'))) continue;
    expect(thrown, name).toEqual(isAllowed ? undefined : refused);
  }
  const limits = roomyLimits;
  const sandbox = await openSandbox({
    limits,
    network: { mode: 'deny-all' },
    ...(names.length > 0 && { allowControl: names }),
  });
  await runIn(sandbox, ['/bin/sh', '-c', 'cd /workspaces/work; mkdir -p .vscode; echo {} > .vscode/e.json']);
  await sandbox.close();
  expect(existsSync(fixture.at('work/.vscode/e.json'))).toBe(isAllowed);
  server.close('the test is over');
});

async function* piecesOf(text: string) {
  yield Buffer.from(text);
}
