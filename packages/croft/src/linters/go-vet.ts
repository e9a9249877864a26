import { z } from 'zod';
import { defineLinter, type Finding, withFiles, withoutOptions } from '../core/project-tools/linter.ts';
import type { Argv } from '../core/projects/profile.ts';
import { toGoPackages } from '../core/readers/lint/files-to-go-packages.ts';
import { linesOf, readLocatedMessage } from '../core/readers/lint/read-printed-findings.ts';
import { toLintReport } from '../core/readers/lint/to-lint-report.ts';
import { readJson, toRelative } from '../core/readers/reader-helpers.ts';

const Diagnostics = z.array(z.object({ posn: z.string(), message: z.string() }));
const Failure = z.object({ error: z.string() }).transform(({ error }) => error);
/** Diagnostics by package and analyzer. */
const Answer = z.record(z.string(), z.record(z.string(), z.union([Diagnostics, Failure])));

export const goVet = defineLinter({
  name: 'go-vet',
  scope: 'build',
  failsOnFindings: true,
  toArgv: (argv, files) => withJson(withoutOptions(withFiles(argv, toGoPackages(files), ['./...']), ['-fix', '--fix'])),
  read(output) {
    const streams = [linesOf(output.stdout), linesOf(output.stderr)];
    const lines = streams.flat();
    const blocks = streams.flatMap(blocksOf).map((text) => readJson(Answer, text));
    const entries = blocks.flatMap((answer) => Object.values(answer ?? {}).flatMap((said) => Object.entries(said)));
    const findings = entries.flatMap(([rule, said]) =>
      typeof said === 'string' ? [] : said.flatMap((one) => toFinding(rule, one, output.directory)),
    );
    const failed = entries.map(([, said]) => said).find((said) => typeof said === 'string');
    const isEmpty = lines.includes('no packages to vet');
    const errors = lines.flatMap((line) => toError(line, output.directory));
    return toLintReport(output, {
      findings: [...errors, ...findings],
      isClean: blocks.length > 0 && blocks.every((answer) => answer !== undefined),
      isEmpty,
      // With `-json`, findings do not fail the run; a package that does not compile does.
      exitCodes: errors.length > 0 || isEmpty ? [1, 2] : [0],
      trouble: failed,
    });
  },
});

/** Adds `-json` before the packages. */
function withJson(argv: Argv): Argv {
  const [program, ...rest] = argv;
  return rest.includes('-json') ? argv : [program, ...rest.toSpliced(rest.indexOf('vet') + 1, 0, '-json')];
}

/**
 * Splits the output into JSON objects, one per package, which begin and end at the start of a line. An empty object is
 * a line of its own.
 */
function blocksOf(lines: readonly string[]): string[] {
  const blocks: string[] = [];
  let open: string[] | undefined;
  for (const line of lines) {
    if (line === '{}') blocks.push(line);
    else if (line === '{') open = [];
    open?.push(line);
    if (line !== '}' || !open) continue;
    blocks.push(open.length > 2 ? open.join('\n') : '');
    open = undefined;
  }
  return open ? [...blocks, ''] : blocks;
}

function toFinding(rule: string, { posn, message }: z.output<typeof Diagnostics>[number], root: string): Finding[] {
  const [, file, line, column = '1'] = /^([^:]+):(\d{1,9})(?::(\d{1,9}))?/.exec(posn) ?? [];
  if (file === undefined) return [];
  const location = { file: toRelative(file, root), line: Number(line), column: Number(column) };
  return [{ ...location, rule, message, severity: 'warning' }];
}

/**
 * Reads an error that keeps a package from being checked: `vet: a.go:3:23: undefined: x`. Without `-json` findings look
 * like this too.
 */
function toError(line: string, root: string): Finding[] {
  const location = readLocatedMessage(line, root);
  return location?.file.endsWith('.go') ? [{ ...location, rule: '', severity: 'error' }] : [];
}
