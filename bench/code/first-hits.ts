import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { startCroft } from '../file-servers.ts';
import { atLeastTimes } from '../goals.ts';
import { run } from '../run-program.ts';
import { summarize } from '../statistics.ts';
import { startLeanClient } from '../stdio-client.ts';
import { inOwnNetwork, installCodePeers, peerFile } from './peers/code-peers.ts';
import { questions } from './questions.ts';

const what = 'code: first hit';
const env = { PATH: process.env.PATH ?? '', CODEGRAPH_TELEMETRY: '0' };

/** How many questions about the sources of Croft the first hit answers. */
export const firstHits: CodeFigures = {
  what,
  async measure({ sources, scratch, say }) {
    await installCodePeers(say);
    const missing = questions.filter(([, file]) => !existsSync(join(sources, file)));
    if (missing.length > 0) throw new Error(`these files of questions.ts have other names now: ${missing.join(' ')}`);
    const ours = await countOurs(sources, join(scratch, 'data'));
    say('asking codegraph');
    const theirs = await countTheirs(sources, join(scratch, 'copy'), join(scratch, 'home'));
    const line = { what: `${what}, of ${questions.length} questions`, against: 'codegraph', unit: 'right' };
    return [toRow({ ...line, goal: atLeastTimes(1), ours: summarize([ours]), theirs: summarize([theirs]) })];
  },
};

async function countOurs(directory: string, data: string): Promise<number> {
  await using croft = await startCroft(directory, startLeanClient, { data });
  // The first map waits for the index.
  await croft.ask({ tool: 'repo_map', args: { tokens: 100 } });
  let right = 0;
  for (const [query, file] of questions) {
    const answer = await croft.ask({ tool: 'search_code', args: { query, limit: 1 } });
    if (answer.startsWith(`${file}:`)) right += 1;
  }
  return right;
}

async function countTheirs(sources: string, directory: string, home: string): Promise<number> {
  cpSync(sources, directory, { recursive: true });
  const ask = (...args: string[]) => {
    const [program, ...all] = inOwnNetwork([
      process.execPath,
      peerFile('@colbymchenry/codegraph/npm-shim.js'),
      ...args,
    ]);
    return run(program, all, { ...env, HOME: home });
  };
  await ask('init', directory);
  let right = 0;
  for (const [query, file] of questions) {
    const found = JSON.parse(await ask('query', query, '--path', directory, '--limit', '1', '--json'));
    if (JSON.stringify(found[0] ?? '').includes(`"${file}"`)) right += 1;
  }
  return right;
}
