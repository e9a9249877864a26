import { openRoot } from '../../src/disk/paths/handles.ts';
import { createForkBases } from '../../src/history/forks/fork-bases.ts';
import { createForkDirectories } from '../../src/history/forks/fork-directories.ts';
import { newLayerChain, stateOf } from '../../src/history/forks/layer-chain.ts';

/** Makes a fork and is killed when everything but its record exists. */
const [, , workspace = '', data = ''] = process.argv;
const live = openRoot(workspace);
await createForkDirectories({ parent: `${data}/forks` }).create({
  ...{ id: 'fork-killed', workspaceFd: live, about: {} },
  base: async () => stateOf(newLayerChain(await createForkBases(`${data}/bases`).make(live), 'nobody')),
  async finish() {
    process.stdout.write('mounted\n', () => process.kill(process.pid, 'SIGKILL'));
    await new Promise(() => setInterval(() => {}, 1000));
  },
});
