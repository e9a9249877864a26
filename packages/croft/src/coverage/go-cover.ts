import { type CoverageData, type CoverageTool, defineCoverageTool } from '../core/coverage/coverage.ts';
import type { Argv } from '../core/projects/profile.ts';

/** One block that was counted. Columns are in bytes, and the end is not part of it. */
interface Block {
  readonly startLine: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export const goCover: CoverageTool = defineCoverageTool({
  name: 'go test -coverprofile',
  tools: ['go-test'],
  isTestFile: (path) => path.endsWith('_test.go'),
  /** Go counts for a package as a whole, so the tests of the file are asked for by their names. */
  toRun({ runnerArgv, testText, place }) {
    const names = testsIn(testText);
    if (names.length === 0) return undefined;
    return {
      argv: insertAfterTest(runnerArgv, [`-run=^(${names.join('|')})$`, `-coverprofile=${place}`, '-coverpkg=./...']),
    };
  },
  toReport: ({ place }) => ['cat', place],
  async read(data) {
    const module = moduleIn((await data.readText('go.mod')) ?? '');
    if (module === undefined || !data.text.startsWith('mode: ')) return undefined;
    const files = new Map<string, number[]>();
    for (const [name, blocks] of blocksThatRan(data.text)) {
      // By the whole path: many packages have a `util.go`.
      if (!name.startsWith(`${module}/`)) continue;
      const path = name.slice(module.length + 1);
      files.set(path, await linesOf(path, blocks, data));
    }
    return { files };
  },
});

function testsIn(text: string): string[] {
  const found = [...text.matchAll(/^func ((?:Test|Example|Fuzz)[\p{L}\p{N}_]{0,200})\(/gmu)].map(
    ([, name = '']) => name,
  );
  return [...new Set(found)].filter((name) => name !== 'TestMain');
}

function insertAfterTest([program, ...rest]: Argv, options: readonly string[]): Argv {
  const at = rest.indexOf('test') + 1;
  return [program, ...rest.slice(0, at), ...options, ...rest.slice(at)];
}

function moduleIn(goMod: string): string | undefined {
  return goMod.match(/^\s*module\s+["`]?([^\s"`]{1,500})/m)?.[1];
}

const record = /^(.{1,4096}):(\d{1,9})\.\d{1,9},(\d{1,9})\.(\d{1,9}) \d{1,9} (\d{1,20})$/;

/** By file, those with a count over zero. */
function blocksThatRan(profile: string): Map<string, Block[]> {
  const found = new Map<string, Block[]>();
  for (const line of profile.split('\n')) {
    const [, file = '', startLine, endLine, endColumn, count = '0'] = record.exec(line) ?? [];
    if (/^0*$/.test(count)) continue;
    const blocks = found.get(file) ?? [];
    blocks.push({ startLine: Number(startLine), endLine: Number(endLine), endColumn: Number(endColumn) });
    found.set(file, blocks);
  }
  return found;
}

/** Without a last line where only a bracket is part of the block: an `else` after it may not have run. */
async function linesOf(path: string, blocks: readonly Block[], data: CoverageData): Promise<number[]> {
  const text = ((await data.readText(path)) ?? '').split('\n');
  // How many blocks more than on the line before are around each line, because each block could be a million lines.
  const changes = new Int32Array(text.length + 2);
  const change = (line: number, by: number) => {
    changes[Math.min(line, text.length + 1)] = (changes[Math.min(line, text.length + 1)] ?? 0) + by;
  };
  for (const { startLine, endLine, endColumn } of blocks) {
    const last = endLine > startLine && isBracket(text[endLine - 1] ?? '', endColumn - 1) ? endLine - 1 : endLine;
    change(startLine, 1);
    change(Math.max(last, startLine) + 1, -1);
  }
  let around = 0;
  return text
    .map((_, index) => index + 1)
    .filter((line) => {
      around += changes[line] ?? 0;
      return around > 0;
    });
}

/** Whether there is nothing but a bracket in the first bytes of a row. Nobody indents one further than this. */
function isBracket(row: string, bytes: number): boolean {
  const maxIndent = 200;
  if (bytes > maxIndent) return false;
  return /^[\s{})\]]*$/.test(Buffer.from(row.slice(0, maxIndent)).subarray(0, Math.max(0, bytes)).toString());
}
