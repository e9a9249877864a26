import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createForkBases } from '../../src/history/forks/fork-bases.ts';
import { signal, startForks } from './forks-fixture.ts';

/** Makes three forks with changes in between, and is killed while it makes a layer for the next. */
const [, , workspace = '', data = ''] = process.argv;
const server = startForks(workspace, data);
for (const name of ['one', 'two', 'three']) {
  await server.of('main').fork({ name, session: 's', signal });
  writeFileSync(join(workspace, 'a'), `changed after ${name}`);
  writeFileSync(join(workspace, `new-${name}`), name);
  rmSync(join(workspace, `gone-${name}`));
}
const [base = ''] = server.layered.forkDirectories.list().map((record) => record.base);
await createForkBases(join(base, '../..')).makeStep(async (tree) => {
  writeFileSync(join(tree, 'half'), 'half of it');
  process.stdout.write('halfway\n', () => process.kill(process.pid, 'SIGKILL'));
  await new Promise(() => setInterval(() => {}, 1000));
});
