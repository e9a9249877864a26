import { onTestFinished } from 'vitest';
import { describeSandbox } from '../contracts/sandbox.ts';
import { roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { openTestFixture } from './ports-fixture.ts';

describeSandbox('remote', async () => {
  const { workspace, directory } = await openTestFixture();
  const sandbox = await workspace.openSandbox({ limits: roomyLimits, network: { mode: 'deny-all' } });
  onTestFinished(() => sandbox.close());
  return { sandbox, directory };
});
