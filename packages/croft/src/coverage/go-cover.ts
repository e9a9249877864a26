import { type CoverageData, type CoverageTool, defineCoverageTool } from '../core/project-tools/coverage-tool.ts';
import type { Argv } from '../core/projects/profile.ts';

/** A counted block. Columns are in bytes, and the end is exclusive. */
interface Block {
  readonly startLine: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export const goCover: CoverageTool = defineCoverageTool({
  name: 'go test -coverprofile',
  tools: ['go-test'],
  isTestFile: (path) => path.endsWith('_test.go'),
  /** Go measures whole packages, so the command selects the tests of the file by name. */
  toRun({ runnerArgv, testText, dataPath }) {
    const names = testsIn(testText);
    if (names.length === 0) return undefined;
    return {
      argv: insertAfterTest(runnerArgv, [
        `-run=^(${names.join('|')})$`,
        `-coverprofile=${dataPath}`,
        '-coverpkg=./...',
      ]),
    };
  },
  toReport: ({ dataPath }) => ['cat', dataPath],
  async read(data) {
    const module = moduleIn((await data.readText('go.mod')) ?? '');
    if (module === undefined || !data.text.startsWith('mode: ')) return undefined;
    const files = new Map<string, number[]>();
    for (const [name, blocks] of blocksThatRan(data.text)) {
      // Compared by the whole path: many packages have a `util.go`.
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

/** Returns the executed blocks by file. */
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

/**
 * Returns the executed lines. A last line on which the block has only a bracket is left out: an `else` after it may not
 * have run.
 */
async function linesOf(path: string, blocks: readonly Block[], data: CoverageData): Promise<number[]> {
  const text = ((await data.readText(path)) ?? '').split('\n');
  // Differences in the number of blocks from line to line, because a block may span a million lines.
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

/** Whether the first bytes of a row are only whitespace and brackets. Nobody indents further than this. */
function isBracket(row: string, bytes: number): boolean {
  const maxIndent = 200;
  if (bytes > maxIndent) return false;
  return /^[\s{})\]]*$/.test(Buffer.from(row.slice(0, maxIndent)).subarray(0, Math.max(0, bytes)).toString());
}
