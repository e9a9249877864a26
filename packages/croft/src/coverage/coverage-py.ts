import { z } from 'zod';
import { type CoverageTool, defineCoverageTool } from '../core/coverage/coverage.ts';
import type { Argv } from '../core/projects/profile.ts';
import { readJson } from '../core/readers/read-output.ts';

const Report = z.object({
  files: z.record(z.string(), z.object({ executed_lines: z.array(z.int().min(1)) })),
});

/** The project's own settings may leave files out, or put the data elsewhere. */
const noSettings = '--rcfile=/dev/null';

export const coveragePy: CoverageTool = defineCoverageTool({
  name: 'coverage.py',
  tools: ['pytest'],
  isTestFile: (path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path),
  toRun({ runnerArgv, place }) {
    const parts = split(runnerArgv);
    if (!parts) return undefined;
    const run = ['-m', 'coverage', 'run', noSettings, `--data-file=${place}`, '-m', 'pytest'];
    return { argv: [...parts.python, ...run, ...parts.options] };
  },
  toReport({ runnerArgv, place }) {
    const python = split(runnerArgv)?.python ?? (['python3'] as const);
    // One file that cannot be read any more is no reason to say nothing about the rest.
    return [...python, '-m', 'coverage', 'json', noSettings, '-i', '-q', `--data-file=${place}`, '-o', '-'];
  },
  async read({ text }) {
    const report = readJson(Report, text);
    if (!report) return undefined;
    const files = Object.entries(report.files).map(([path, file]) => [path, file.executed_lines] as const);
    return { files: new Map(files.filter(([, lines]) => lines.length > 0)) };
  },
});

/**
 * The Python, and what pytest is told. From `.venv/bin/pytest -q`, whose neighbour the Python is, from `uv run pytest -q`
 * and from `python -m pytest -q`.
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
