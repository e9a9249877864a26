import { z } from 'zod';
import { type CoverageTool, defineCoverageTool } from '../core/project-tools/coverage-tool.ts';
import type { Argv } from '../core/projects/profile.ts';
import { readJson } from '../core/readers/reader-helpers.ts';

const Report = z.object({
  files: z.record(z.string(), z.object({ executed_lines: z.array(z.int().min(1)) })),
});

/** Ignores the project's settings, which may exclude files or move the data. */
const noSettings = '--rcfile=/dev/null';

export const coveragePy: CoverageTool = defineCoverageTool({
  name: 'coverage.py',
  tools: ['pytest'],
  isTestFile: (path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path),
  toRun({ runnerArgv, dataPath }) {
    const parts = split(runnerArgv);
    if (!parts) return undefined;
    const run = ['-m', 'coverage', 'run', noSettings, `--data-file=${dataPath}`, '-m', 'pytest'];
    return { argv: [...parts.python, ...run, ...parts.options] };
  },
  toReport({ runnerArgv, dataPath }) {
    const python = split(runnerArgv)?.python ?? (['python3'] as const);
    // `-i`: a file that can no longer be read must not hide the rest.
    return [...python, '-m', 'coverage', 'json', noSettings, '-i', '-q', `--data-file=${dataPath}`, '-o', '-'];
  },
  async read({ text }) {
    const report = readJson(Report, text);
    if (!report) return undefined;
    const files = Object.entries(report.files).map(([path, file]) => [path, file.executed_lines] as const);
    return { files: new Map(files.filter(([, lines]) => lines.length > 0)) };
  },
});

/**
 * Splits a command into its Python and the options of pytest: from `.venv/bin/pytest -q`, with the Python beside it,
 * from `uv run pytest -q` and from `python -m pytest -q`.
 */
function split(argv: Argv): { python: Argv; options: string[] } | undefined {
  const at = argv.findIndex((argument) => /(?:^|\/)(?:pytest|py\.test)$/.test(argument));
  if (at < 0) return undefined;
  const options = argv.slice(at + 1);
  const [program, ...before] = argv.slice(0, argv[at - 1] === '-m' ? at - 1 : at);
  if (program !== undefined && argv[at - 1] === '-m') return { python: [program, ...before], options };
  if (program !== undefined) return { python: [program, ...before, 'python'], options };
  const directory = (argv[at] ?? '').replace(/[^/]*$/, '');
  return { python: [directory === '' ? 'python3' : `${directory}python`], options };
}
