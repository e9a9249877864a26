import { smallDiff } from '../../lib/text/diff.ts';
import { decodeText } from '../../lib/text/lines.ts';
import { toProjectPath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import { projectOf } from '../projects/project-files.ts';
import type { Effect, EffectContext, Touched } from './effects.ts';
import { isMissing } from './missing-tool.ts';
import { runFormatter } from './run-formatter.ts';

const maxBytes = 2 * 1024 * 1024;

/** Formats files that were changed, and shows what that changed in them. */
export async function formatTouched(touched: readonly Touched[], context: EffectContext): Promise<Effect | undefined> {
  const sections: string[] = [];
  const formatted: string[] = [];
  for (const { path, profiles } of touched) {
    const profile = projectOf(path, profiles, 'format');
    // A command that takes no files would change others, which nobody asked for.
    if (!profile?.format?.includes('$FILES')) continue;
    const { diff, advice } = await format(path, profile, context);
    sections.push(...advice);
    if (diff === undefined) continue;
    formatted.push(path);
    sections.push(`--- format ---\n${diff}`);
  }
  if (formatted.length > 0) tell(formatted, context);
  return sections.length === 0 ? undefined : { sections, structured: formatted.length > 0 ? { formatted } : {} };
}

interface Outcome {
  readonly diff?: string | undefined;
  readonly advice: readonly string[];
}

async function format(path: string, profile: Profile, context: EffectContext): Promise<Outcome> {
  const { workspace, session } = context;
  const timeoutMs = context.remainingMs();
  if (timeoutMs <= 0) return { advice: [] };
  const before = await workspace.files.read(path, { maxBytes });
  // Somebody else's version is theirs to format.
  session.reads.mustHaveSeen(workspace.name, before, 'format', path);
  const advice = await run({ path, profile, timeoutMs }, context);
  const after = await workspace.files.read(path, { maxBytes });
  if (after.version === before.version) return { advice };
  session.reads.saw(workspace.name, after);
  return { diff: smallDiff(decodeText(before.bytes).text, decodeText(after.bytes).text), advice };
}

interface Request {
  readonly path: string;
  readonly profile: Profile;
  readonly timeoutMs: number;
}

/** What there is to say of the run itself. */
async function run({ path, profile, timeoutMs }: Request, context: EffectContext): Promise<string[]> {
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
    if (!isMissing(thrown)) return [];
    return context.advise(thrown.message);
  }
}

function tell(files: readonly string[], { emit, workspace, session }: EffectContext): void {
  emit('lifecycle.effect.format', () => ({ workspace: workspace.name, session: session.id, files }));
}
