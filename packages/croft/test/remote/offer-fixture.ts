import { onTestFinished } from 'vitest';
import { createRunnerOffer } from '../../src/app/offer.ts';
import type { CodeMode } from '../../src/core/code/ports/language-servers.ts';
import { makeDirectory } from '../support/harness.ts';
import { operator, roomyLimits } from '../support/sandboxes/open-sandbox.ts';
import { workspaceRequest } from './ports-fixture.ts';

export async function openOffer(more: {
  capacity?: number;
  isReadOnly?: boolean;
  code?: CodeMode;
  allowControl?: readonly string[];
}) {
  const { allowControl, ...others } = more;
  const fixture = makeDirectory({ 'work/a.txt': 'as it was' });
  const offer = createRunnerOffer({
    ...{ workspaces: [{ name: 'work', path: fixture.at('work') }], data: fixture.at('data') },
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits, allowControl },
    ...{ host: { ...operator, variables: {} }, isReadOnly: false, onWarning() {}, ...others },
  });
  onTestFinished(async () => {
    await offer[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });
  return { offer, offered: await offer.open(workspaceRequest), fixture };
}
