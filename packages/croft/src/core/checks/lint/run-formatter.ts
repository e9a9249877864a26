import { withFiles } from '../../project-tools/linter.ts';
import { noCommandError, type ProjectFiles } from '../assign-files-to-projects.ts';
import { findMissingProgram, missingToolError } from '../missing-tool.ts';
import { runCheck } from '../run-check.ts';
import type { LintContext } from './run-lint.ts';

interface FormatCall extends ProjectFiles {
  readonly need: 'format' | 'formatCheck';
  readonly timeoutMs: number;
  /** The calling tool, for the error when the program is missing. */
  readonly tool?: string | undefined;
}

export type FormatRun = Awaited<ReturnType<typeof runFormatter>>;

const shownText = 20_000;

/** Formats files of one project, or checks their format. Throws `E_TOOL_MISSING` if the program does not exist. */
export async function runFormatter(call: FormatCall, context: LintContext) {
  const { session, workspace, signal } = context;
  const { profile, files, need, timeoutMs, tool = 'run_format' } = call;
  const { language, directory } = profile;
  const command = profile[need];
  if (!command) throw noCommandError('format', profile);
  const argv = withFiles(command, files, ['.']);
  const { output, timedOut } = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv, timeoutMs, signal, tool, context }),
  );
  const missing = output.exitCode === 0 || timedOut ? undefined : findMissingProgram(output);
  if (missing !== undefined) throw missingToolError(missing, { profile, tool });
  const said = [output.stdout, output.stderr].filter((text) => text !== '').join('\n');
  const { exitCode } = output;
  return { language, directory, command: [...argv], exitCode, timedOut, output: said.slice(-shownText) };
}
