import { onTestFinished } from 'vitest';
import { createOffer } from '../../src/app/offer.ts';
import { makeDirectory } from '../harness.ts';
import { operator, roomyLimits } from '../open-sandbox.ts';
import { wish } from './ports-ground.ts';

export async function openOffered(more: { capacity?: number; isReadOnly?: boolean }) {
  const ground = makeDirectory({ 'work/a.txt': 'as it was' });
  const offer = createOffer({
    ...{ workspaces: [{ name: 'work', path: ground.at('work') }], data: ground.at('data') },
    sandbox: { provider: 'bubblewrap', readable: [], network: { mode: 'deny-all' }, limits: roomyLimits },
    ...{ host: { ...operator, variables: {} }, isReadOnly: false, onWarning() {}, ...more },
  });
  onTestFinished(async () => {
    await offer[Symbol.asyncDispose]();
    ground[Symbol.dispose]();
  });
  return { offer, offered: await offer.open(wish), ground };
}
