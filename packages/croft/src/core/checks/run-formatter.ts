import { noCommand, type ProjectFiles } from '../projects/project-files.ts';
import { withFiles } from './linter.ts';
import { findMissing, toolMissing } from './missing-tool.ts';
import { runCheck } from './run-check.ts';
import type { LintContext } from './run-lint.ts';

export interface FormatCall extends ProjectFiles {
  readonly need: 'format' | 'formatCheck';
  readonly timeoutMs: number;
  /** Who asks, for what is said when the program is missing. */
  readonly tool?: string | undefined;
}

export type Formatted = Awaited<ReturnType<typeof runFormatter>>;

const shownText = 20_000;

/** Formats files of one project, or says what that would change. Throws `E_TOOL_MISSING` when there is no such program. */
export async function runFormatter(call: FormatCall, context: LintContext) {
  const { session, workspace, signal } = context;
  const { profile, files, need, timeoutMs, tool = 'run_format' } = call;
  const { language, directory } = profile;
  const command = profile[need];
  if (!command) throw noCommand('format', profile);
  const argv = withFiles(command, files, ['.']);
  const { output, timedOut } = await session.sandboxes.use(workspace.name, (sandbox) =>
    runCheck(sandbox, { profile, argv, timeoutMs, signal, tool, context }),
  );
  const missing = output.exitCode === 0 || timedOut ? undefined : findMissing(output);
  if (missing !== undefined) throw toolMissing(missing, { profile, tool });
  const said = [output.stdout, output.stderr].filter((text) => text !== '').join('\n');
  const { exitCode } = output;
  return { language, directory, command: [...argv], exitCode, timedOut, output: said.slice(-shownText) };
}
