import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { startCroft } from '../file-servers.ts';
import { allOf } from '../goals.ts';
import { summarize } from '../statistics.ts';
import { startLeanClient, type ToolClient } from '../stdio-client.ts';
import { startCclsp } from './peers/cclsp.ts';
import { installCodePeers } from './peers/code-peers.ts';

const what = 'code: first references';
const files = 200;
const starts = 3;

/** The first question of a new process, in a Python project where every file has a reference. */
export const firstReferences: CodeFigures = {
  what,
  async measure({ scratch, say }) {
    await installCodePeers(say);
    const directory = makeProject(join(scratch, 'project'));
    const found = { ours: [] as number[], theirs: [] as number[] };
    for (let start = 0; start < starts; start++) {
      say(`start ${start + 1} of ${starts}`);
      await using croft = await startCroft(directory, startLeanClient, { data: join(scratch, `data-${start}`) });
      const own = { file_path: 'lib.py', symbol: 'target', limit: 1000 };
      found.ours.push(await countFiles(croft, { tool: 'find_references', args: own }));
      await using cclsp = await startCclsp(directory, scratch);
      const other = { file_path: join(directory, 'lib.py'), symbol_name: 'target' };
      found.theirs.push(await countFiles(cclsp, { tool: 'find_references', args: other }));
    }
    const [ours, theirs] = [summarize(found.ours), summarize(found.theirs)];
    const line = { what: `${what}: files found, at least`, against: 'cclsp', unit: `of ${files}`, goal: allOf(files) };
    return [toRow({ ...line, ours, theirs })];
  },
};

function makeProject(directory: string): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'lib.py'), 'def target():\n    return 1\n');
  for (let file = 0; file < files; file++)
    writeFileSync(join(directory, `use_${file}.py`), 'from lib import target\n\nprint(target())\n');
  return directory;
}

async function countFiles(client: ToolClient, call: Parameters<ToolClient['ask']>[0]): Promise<number> {
  const [answer = ''] = (await client.ask(call)).split('also as text');
  return new Set(answer.match(/use_\d+\.py/g)).size;
}
