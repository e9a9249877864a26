import { join } from 'node:path';
import { toRow, toUnmeasuredRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { compare } from '../compare.ts';
import { startCroft } from '../file-servers.ts';
import { atMostTimes } from '../goals.ts';
import { run } from '../run-program.ts';
import { startLeanClient } from '../stdio-client.ts';

const file = 'history/tree/tree-index.ts';
const what = 'code: outline';
const line = { what: `${what} of one file`, against: 'ctags', goal: atMostTimes(2) };

/** The definitions of a file, against Universal Ctags. Starting ctags is part of its work, as it is for its users. */
export const outline: CodeFigures = {
  what,
  async measure({ sources, scratch }) {
    const env = { PATH: process.env.PATH ?? '' };
    const list = () => run('ctags', ['--options=NONE', '-f', '-', '--fields=+ne', join(sources, file)], env);
    try {
      await list();
    } catch {
      return [toUnmeasuredRow(line, 'ctags is not installed')];
    }
    await using ours = await startCroft(sources, startLeanClient, { data: join(scratch, 'data') });
    const ask = { tool: 'outline', args: { path: file } };
    const [answer, printed] = [await ours.ask(ask), await list()];
    if (!answer.includes('TreeIndex') || !printed.includes('TreeIndex'))
      throw new Error('the class is not in the answer');
    const times = await compare({
      ours: { run: () => ours.call(ask) },
      theirs: { run: list },
      rounds: 100,
      warmUp: 10,
    });
    return [toRow({ ...line, ...times })];
  },
};
