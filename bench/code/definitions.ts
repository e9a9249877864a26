import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { compare } from '../compare.ts';
import { startCroft } from '../file-servers.ts';
import { atMostTimes } from '../goals.ts';
import { startLeanClient } from '../stdio-client.ts';
import { startBareServer } from './bare-server.ts';
import { copySources } from './copy-sources.ts';
import { startCclsp } from './peers/cclsp.ts';
import { installCodePeers, typescriptServer } from './peers/code-peers.ts';

const what = 'code: definition';
const config =
  '{"compilerOptions":{"module":"esnext","moduleResolution":"bundler","allowImportingTsExtensions":true,"noEmit":true}}';
const file = 'core/calls/toolbox.ts';
const [used, declared] = ['createActiveCalls', 'createToolbox'];

/** One definition in the sources of Croft: warm, against the same server without Croft; cold, against cclsp. */
export const definitions: CodeFigures = {
  what,
  async measure({ scratch, say }) {
    await installCodePeers(say);
    const directory = copySources(join(scratch, 'sources'));
    writeFileSync(join(directory, 'tsconfig.json'), config);
    return [await measureWarm(directory, scratch), await measureCold(directory, scratch)];
  },
};

async function measureWarm(directory: string, scratch: string): Promise<Row> {
  const { line, character } = placeOf(join(directory, file), used);
  await using croft = await startCroft(directory, startLeanClient, { data: join(scratch, 'data') });
  using bare = await startBareServer(typescriptServer(), directory);
  const ask = { tool: 'find_definition', args: { file_path: file, line: line + 1, col: character + 1 } };
  if (!(await croft.ask(ask)).includes('core/calls/active-calls.ts')) throw new Error('the definition was not found');
  const times = await compare({
    ours: { run: () => croft.call(ask) },
    theirs: { run: () => bare.definition(join(directory, file), line, character) },
    rounds: 200,
    warmUp: 20,
  });
  return toRow({ what: `${what}, warm`, against: 'the bare server', goal: atMostTimes(1.2, { plusMs: 1 }), ...times });
}

/** From starting the program to the first answer. */
async function measureCold(directory: string, scratch: string): Promise<Row> {
  const times = await compare({
    ours: {
      async run(round) {
        await using croft = await startCroft(directory, startLeanClient, { data: join(scratch, `cold-${round}`) });
        await croft.call({ tool: 'find_definition', args: { file_path: file, symbol: declared } });
      },
    },
    theirs: {
      async run() {
        await using cclsp = await startCclsp(directory, scratch);
        await cclsp.call({
          tool: 'find_definition',
          args: { file_path: join(directory, file), symbol_name: declared },
        });
      },
    },
    rounds: 5,
    warmUp: 1,
  });
  return toRow({ what: `${what}, from the start`, against: 'cclsp', goal: atMostTimes(0.6), ...times });
}

/** The last use of a name in a file, from 0. */
function placeOf(path: string, name: string) {
  const lines = readFileSync(path, 'utf8').split('\n');
  const line = lines.findLastIndex((text) => text.includes(`${name}(`));
  return { line, character: lines[line]?.indexOf(name) ?? 0 };
}
