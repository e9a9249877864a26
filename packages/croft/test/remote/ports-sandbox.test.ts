import { onTestFinished } from 'vitest';
import { describeSandbox } from '../contracts/sandbox.ts';
import { roomyLimits } from '../open-sandbox.ts';
import { openOwnGround } from './ports-ground.ts';

describeSandbox('remote', async () => {
  const { workspace, directory } = await openOwnGround();
  const sandbox = await workspace.openSandbox({ limits: roomyLimits, network: { mode: 'deny-all' } });
  onTestFinished(() => sandbox.close());
  return { sandbox, directory };
});
