import { appendFileSync } from 'node:fs';
import { type Row, toRow } from './bench.ts';
import { compare } from './compare.ts';
import { startCroft, startPeer } from './file-servers.ts';
import { atMostTimes, timesFaster } from './goals.ts';
import { runRipgrep } from './run-ripgrep.ts';
import { makeTree } from './scratch-trees.ts';
import type { StartClient, ToolCall } from './stdio-client.ts';

const treeFiles = 10_000;
const needle = 'needle_in_ten_thousand_files';

export interface SearchOptions {
  readonly directory: string;
  readonly startClient: StartClient;
  say(progress: string): void;
}

/** Measures glob and grep in one large tree that does not change. Answers are checked before the measurement. */
export async function measureSearches({ directory, startClient, say }: SearchOptions): Promise<Row[]> {
  say(`making ${treeFiles} files`);
  const { paths } = makeTree(directory, treeFiles);
  appendFileSync(paths[treeFiles / 2] ?? '', `// ${needle}\n`);
  await using ours = await startCroft(directory, startClient);
  await using theirs = await startPeer(directory, startClient);

  const pattern = '**/*.ts';
  const grep = { tool: 'grep', args: { pattern: needle } };
  const listFiles = () => runRipgrep(directory, ['--files']);
  const findNeedle = () => runRipgrep(directory, ['-n', needle, './']);
  for (const { ask, calls } of [ours, theirs]) checkPaths(await askForAll(ask, calls.glob(pattern)));
  checkPaths(String(await listFiles()));
  for (const answer of [await ours.ask(grep), String(await findNeedle())]) checkMatch(answer);

  const glob = { run: () => ours.call(ours.calls.glob(pattern)) };
  const peerGlob = { run: () => theirs.call(theirs.calls.glob(pattern)) };
  const grepping = { run: () => ours.call(grep) };
  const what = { glob: `glob ${pattern}, 10,000 files`, grep: 'grep a needle, 10,000 files' };

  say('glob, against the peer');
  const againstPeer = await compare({ ours: glob, theirs: peerGlob, rounds: 12, warmUp: 2 });
  say('glob, against bare rg');
  const againstList = await compare({ ours: glob, theirs: { run: listFiles }, rounds: 100, warmUp: 10 });
  say('grep, against bare rg');
  const againstSearch = await compare({ ours: grepping, theirs: { run: findNeedle }, rounds: 100, warmUp: 10 });

  const peer = '@modelcontextprotocol/server-filesystem';
  return [
    toRow({ what: what.glob, against: peer, goal: timesFaster(20), ...againstPeer }),
    toRow({ what: what.glob, against: 'rg --files', goal: atMostTimes(2, { plusMs: 10 }), ...againstList }),
    toRow({ what: what.grep, against: 'rg -n', goal: atMostTimes(1.3, { plusMs: 10 }), ...againstSearch }),
  ];
}

/**
 * Croft answers a model with 40 kB at most: the measurement is of that answer. Its cursor leads to the rest of the
 * paths.
 */
async function askForAll(ask: (call: ToolCall) => Promise<string>, call: ToolCall): Promise<string> {
  const pages = [await ask(call)];
  for (let cursor = cursorIn(pages[0]); cursor !== undefined; cursor = cursorIn(pages.at(-1)))
    pages.push(await ask({ tool: 'next_page', args: { cursor } }));
  return pages
    .join('\n')
    .split('\n')
    .filter((line) => line.endsWith('.ts'))
    .join('\n');
}

function cursorIn(answer = ''): string | undefined {
  return /cursor "([^"]+)"/.exec(answer)?.[1];
}

function checkPaths(answer: string): void {
  const lines = answer.trim().split('\n').length;
  if (lines !== treeFiles) throw new Error(`${lines} paths instead of ${treeFiles}`);
}

function checkMatch(answer: string): void {
  if (!answer.includes(needle)) throw new Error(`the needle is not in the answer: ${answer.slice(0, 200)}`);
}
