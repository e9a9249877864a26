import type { PathChange } from '../../history/ports/tree.ts';
import type { UnverifiedReason } from '../../history/ports/unverified-reason.ts';
import type { Profile } from '../../projects/profile.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { type CheckRequest, type CheckRun, runCheck } from '../run-check.ts';
import { findChangesByCheck } from './find-changes-by-check.ts';

export type LintContext = Pick<ToolContext, 'session' | 'workspace' | 'signal' | 'secrets' | 'reportDenials'>;

/** A check that ran, and the source files that it should have left alone. */
interface UnchangingRun {
  readonly result: CheckRun;
  /** Left out: no source file changed. */
  readonly altered?: AlteredSources | undefined;
  /** Why it is unknown whether source files changed. */
  readonly unverified?: UnverifiedReason | undefined;
}

/** Source files that changed while a check ran. */
export interface AlteredSources {
  /** Files that the check is proven to have changed. They are restored. */
  readonly putBack: readonly string[];
  /** Files that somebody else may have changed. They stay as they are. */
  readonly unrestored: readonly string[];
}

const maxTitle = 200;

/**
 * Runs a check that must not change source files, while the history watches them. A changed file is restored, but only
 * if the check is proven to have changed it: a person or another session may have written it in the same second.
 */
export async function runAndRestoreSources(
  request: CheckRequest,
  { session, workspace }: LintContext,
): Promise<UnchangingRun> {
  const run = () => session.sandboxes.use(workspace.name, (sandbox) => runCheck(sandbox, request));
  // Such a workspace is discarded after the call.
  if (workspace.isFleeting) return { result: await run() };
  if (!workspace.history) return { result: await run(), unverified: 'none' };
  const title = request.context.secrets.redact(request.argv.join(' ')).slice(0, maxTitle);
  const call = { tool: request.tool ?? 'check', session: session.id, title };
  const { result, altered, unverified } = await workspace.history.recordCheck(call, run);
  const sources = altered.filter(({ path }) => isSource(path, request.profile));
  if (sources.length === 0) return { result, unverified };
  return { result, unverified, altered: await restoreProven(sources, request, { session, workspace }) };
}

type RestoreContext = Pick<LintContext, 'session' | 'workspace'>;

async function restoreProven(
  changes: readonly PathChange[],
  request: CheckRequest,
  where: RestoreContext,
): Promise<AlteredSources> {
  const proven = await findChangesByCheck(changes, request, where).catch(() => []);
  const stayed = proven.length === 0 ? [] : await where.workspace.history?.revertChanges(proven).catch(() => undefined);
  const back = stayed ? proven.map(({ path }) => path).filter((path) => !stayed.includes(path)) : [];
  return { putBack: back, unrestored: changes.map(({ path }) => path).filter((path) => !back.includes(path)) };
}

/**
 * Files that people write in projects of any language. Data such as `.json` and `.xml` is left out, because checks
 * write their reports in it.
 */
const pageFile = /\.(?:md|mdx|css|scss|sass|less|html|vue|svelte|astro|graphql)$/;
const manifests = new Set([
  ...['package.json', 'tsconfig.json', 'deno.json', 'composer.json', 'pyproject.toml', 'Cargo.toml', 'go.mod'],
  ...['Gemfile', 'Rakefile', 'Makefile', 'CMakeLists.txt', 'meson.build', '.gitignore'],
]);

/** Whether a file is a source file. All other files that a check changes are its own caches, reports and lock files. */
function isSource(path: string, { extensions }: Pick<Profile, 'extensions'>): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return extensions.some((ending) => path.endsWith(ending)) || pageFile.test(name) || manifests.has(name);
}
