import { openRoot } from '../../src/disk/handles.ts';
import { newChain, stateOf } from '../../src/history/base-chain.ts';
import { createBases } from '../../src/history/fork-bases.ts';
import { createForkPlaces } from '../../src/history/fork-places.ts';

/** Makes a fork and is killed when all but its record is there. */
const [, , workspace = '', data = ''] = process.argv;
const live = openRoot(workspace);
await createForkPlaces({ parent: `${data}/forks` }).create({
  ...{ id: 'fork-killed', live, about: {} },
  base: async () => stateOf(newChain(await createBases(`${data}/bases`).make(live), 'nobody')),
  async finish() {
    process.stdout.write('mounted\n', () => process.kill(process.pid, 'SIGKILL'));
    await new Promise(() => setInterval(() => {}, 1000));
  },
});
