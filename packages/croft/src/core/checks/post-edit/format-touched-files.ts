import { compactDiff } from '../../../lib/text/compact-diff.ts';
import { decodeText } from '../../../lib/text/lines/lines.ts';
import { toProjectPath } from '../../projects/pick-projects.ts';
import type { Profile } from '../../projects/profile.ts';
import { findProjectFor } from '../assign-files-to-projects.ts';
import { runFormatter } from '../lint/run-formatter.ts';
import { isMissingToolError } from '../missing-tool.ts';
import type { PostEditContext, PostEditResult, TouchedFile } from './post-edit-checks.ts';

const maxBytes = 2 * 1024 * 1024;

/** Formats changed files and shows the formatter's diff. */
export async function formatTouchedFiles(
  touched: readonly TouchedFile[],
  context: PostEditContext,
): Promise<PostEditResult | undefined> {
  const notices: string[] = [];
  const formatted: string[] = [];
  for (const { path, profiles } of touched) {
    const profile = findProjectFor(path, profiles, 'format');
    // A formatter that takes no files would change other files, which nobody asked for.
    if (!profile?.format?.includes('$FILES')) continue;
    const { diff, advice } = await format(path, profile, context);
    notices.push(...advice);
    if (diff === undefined) continue;
    formatted.push(path);
    notices.push(`--- format ---\n${diff}`);
  }
  if (formatted.length > 0) emitFormatted(formatted, context);
  const structured = formatted.length > 0 ? { formatted } : {};
  return notices.length === 0 ? undefined : { sections: [], notices, structured };
}

interface FormatOutcome {
  readonly diff?: string | undefined;
  readonly advice: readonly string[];
}

async function format(path: string, profile: Profile, context: PostEditContext): Promise<FormatOutcome> {
  const { workspace, session } = context;
  const timeoutMs = context.remainingMs();
  if (timeoutMs <= 0) return { advice: [] };
  const before = await workspace.files.read(path, { maxBytes });
  // A version that this session has not read was written by somebody else, who formats it.
  session.reads.mustHaveSeen(workspace.name, before, 'format', path);
  const advice = await run({ path, profile, timeoutMs }, context);
  const after = await workspace.files.read(path, { maxBytes });
  if (after.version === before.version) return { advice };
  session.reads.saw(workspace.name, after);
  return { diff: compactDiff(decodeText(before.bytes).text, decodeText(after.bytes).text), advice };
}

interface Request {
  readonly path: string;
  readonly profile: Profile;
  readonly timeoutMs: number;
}

/** Runs the formatter and returns notices about the run. */
async function run({ path, profile, timeoutMs }: Request, context: PostEditContext): Promise<string[]> {
  try {
    const files = [toProjectPath(path, profile)];
    const { exitCode, timedOut, command, output } = await runFormatter(
      { profile, files, need: 'format', timeoutMs, tool: 'post-edit format' },
      context,
    );
    if (exitCode === 0) return [];
    const [reason = ''] = output.trim().split('\n');
    const why = timedOut ? 'it took too long' : `exit ${exitCode ?? 'by a signal'}: ${reason.slice(0, 300)}`;
    return context.advise(`post-edit format: ${command[0]} failed: ${why}`);
  } catch (thrown) {
    if (!isMissingToolError(thrown)) return [];
    return context.advise(thrown.message);
  }
}

function emitFormatted(files: readonly string[], { emit, workspace, session }: PostEditContext): void {
  emit('lifecycle.effect.format', () => ({ workspace: workspace.name, session: session.id, files }));
}
