import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { compare } from '../compare.ts';
import { startCroft } from '../file-servers.ts';
import { atMostTimes } from '../goals.ts';
import { run } from '../run-program.ts';
import { startLeanClient } from '../stdio-client.ts';

const pattern = 'new AppError($CODE, $$$REST)';
const what = 'code: ast_search';

/** A pattern that has hundreds of matches, against the same program by hand. Both print all of them. */
export const patterns: CodeFigures = {
  what,
  async measure({ sources, scratch }) {
    const program = findAstGrep();
    await using ours = await startCroft(sources, startLeanClient, { data: join(scratch, 'data') });
    const search = { tool: 'ast_search', args: { pattern, language: 'typescript', limit: 500 } };
    const byHand = () => run(program, ['run', '-p', pattern, '-l', 'ts', '--json=stream', sources], {});
    const [answer, printed] = [await ours.ask(search), await byHand()];
    if (!answer.includes('AppError') || !printed.includes('AppError')) throw new Error('the pattern was not found');
    const times = await compare({
      ours: { run: () => ours.call(search) },
      theirs: { run: byHand },
      rounds: 30,
      warmUp: 3,
    });
    return [
      toRow({ what: `${what}, 700 files`, against: 'ast-grep', goal: atMostTimes(1.3, { plusMs: 10 }), ...times }),
    ];
  },
};

function findAstGrep(): string {
  const name = `@ast-grep/cli-linux-${process.arch}-gnu`;
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`);
  return join(dirname(manifest), 'ast-grep');
}
