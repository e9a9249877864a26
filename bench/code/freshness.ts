import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Row, toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { startCroft } from '../file-servers.ts';
import { allOf } from '../goals.ts';
import { summarize } from '../statistics.ts';
import { startLeanClient, type ToolClient } from '../stdio-client.ts';
import { startCclsp } from './peers/cclsp.ts';
import { installCodePeers } from './peers/code-peers.ts';

const what = 'code: right after';
const rounds = 100;
const config = '{"compilerOptions":{"module":"esnext","moduleResolution":"bundler","noEmit":true}}';

interface Questions {
  definition(directory: string): Parameters<ToolClient['ask']>[0];
  references(directory: string): Parameters<ToolClient['ask']>[0];
}

const ours: Questions = {
  definition: () => ({ tool: 'find_definition', args: { file_path: 'lib.ts', symbol: 'target' } }),
  references: () => ({ tool: 'find_references', args: { file_path: 'lib.ts', symbol: 'target', limit: 500 } }),
};
const theirs: Questions = {
  definition: (directory) => ({
    tool: 'find_definition',
    args: { file_path: join(directory, 'lib.ts'), symbol_name: 'target' },
  }),
  references: (directory) => ({
    tool: 'find_references',
    args: { file_path: join(directory, 'lib.ts'), symbol_name: 'target' },
  }),
};

/** Right answers directly after another program has changed files, without a pause. */
export const freshness: CodeFigures = {
  what,
  async measure({ scratch, say }) {
    await installCodePeers(say);
    const [own, other] = [makeProject(join(scratch, 'own')), makeProject(join(scratch, 'other'))];
    await using croft = await startCroft(own, startLeanClient, { data: join(scratch, 'data') });
    await using cclsp = await startCclsp(other, scratch);
    const counts = { ours: await countRight(croft, ours, own), theirs: await countRight(cclsp, theirs, other) };
    const row = (name: 'moved' | 'added', words: string): Row =>
      toRow({
        ...{ what: `${what} ${words}`, against: 'cclsp', unit: `of ${rounds}`, goal: allOf(rounds) },
        ...{ ours: summarize([counts.ours[name]]), theirs: summarize([counts.theirs[name]]) },
      });
    return [row('moved', 'an edit: where the definition is'), row('added', 'a file is made: its reference is found')];
  },
};

function makeProject(directory: string): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'tsconfig.json'), config);
  writeFileSync(join(directory, 'lib.ts'), toLibrary(0));
  writeFileSync(join(directory, 'use.ts'), use);
  return directory;
}

const use = 'import { target } from "./lib";\ntarget();\n';
const toLibrary = (lines: number) => `${'\n'.repeat(lines)}export function target() {}\n`;

async function countRight(client: ToolClient, questions: Questions, directory: string) {
  // The first question starts the server.
  await client.ask(questions.references(directory));
  const before = await client.ask(questions.definition(directory));
  if (!before.includes('lib.ts:1:')) throw new Error(`the definition is not found before the first edit: ${before}`);
  let [moved, added] = [0, 0];
  for (let round = 1; round <= rounds; round++) {
    writeFileSync(join(directory, 'lib.ts'), toLibrary(round));
    const definition = await client.ask(questions.definition(directory));
    if (definition.includes(`lib.ts:${round + 1}:`)) moved += 1;
    writeFileSync(join(directory, `made-${round}.ts`), use);
    const [references = ''] = (await client.ask(questions.references(directory))).split('also as text');
    if (references.includes(`made-${round}.ts`)) added += 1;
  }
  return { moved, added };
}
