import { AppError } from '@croft/protocol';
import type { CodeDiagnostic } from '../../code/ports/code-answers.ts';
import { renderDiagnostic } from '../../code/questions/render-diagnostics.ts';
import { resultWithin } from '../../commands/run-command.ts';
import type { Files } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { findNewDiagnostics } from './find-new-diagnostics.ts';
import type { PostEditResult } from './post-edit-checks.ts';

/** Compares the messages of a language server about the files of a call, before the change and after it. */
export interface WatchedDiagnosticsOfEdit {
  /** The context of the call, whose files ask the server before each change. */
  readonly context: ToolContext;
  /** Whether a server runs for one of the changed files. */
  isOfInterest(): boolean;
  /** Returns the messages that are new. Returns nothing if no server runs. */
  compare(touched: readonly string[], within: { remainingMs(): number }): Promise<PostEditResult | undefined>;
}

/** The messages before the change; absent if the server did not send them in time. */
type Before = readonly CodeDiagnostic[] | undefined;

interface Compared {
  readonly path: string;
  readonly errors: number;
  readonly fresh: readonly CodeDiagnostic[];
}

/** Longest time that an edit waits for the diagnostics before it. */
const beforeMs = 1000;
const afterMs = 3000;
/** After a change of more files than this, the language servers are not asked: each file is one question. */
const maxFiles = 10;
const maxShown = 50;

/** Watches the files of one call. A server that does not run is never started, and then costs nothing. */
export function watchDiagnosticsOfEdit(context: ToolContext): WatchedDiagnosticsOfEdit {
  const { workspace, signal } = context;
  const known = new Map<string, Before>();

  async function note(path: string, to = path): Promise<void> {
    if (known.size >= maxFiles || known.has(to)) return;
    const asked = ask(path, beforeMs).catch((thrown) => {
      // The change makes the file.
      if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return { path, isAsked: true, items: [] };
      return { path, isAsked: false, items: undefined };
    });
    const answer = (await asked) ?? { path, isAsked: true, items: undefined };
    if (answer.isAsked) known.set(to === path ? answer.path : to, answer.items);
  }

  function ask(path: string, timeoutMs: number) {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    return resultWithin(workspace.code.diagnostics({ path, onlyRunning: true }, { signal: ended }), timeoutMs);
  }

  async function compareOne(path: string, timeoutMs: number): Promise<Compared | undefined> {
    const before = known.get(path);
    const answer = before && timeoutMs > 0 ? await ask(path, timeoutMs).catch(() => undefined) : undefined;
    if (!before || !answer?.items) return undefined;
    const isListed = ({ severity }: CodeDiagnostic) => severity === 'error' || severity === 'warning';
    const fresh = findNewDiagnostics(before, answer.items).filter(isListed);
    return { path, fresh, errors: countErrors(answer.items) };
  }

  return {
    context: { ...context, workspace: { ...workspace, files: noting(workspace.files, note) } },
    isOfInterest: () => known.size > 0,
    async compare(touched, { remainingMs }) {
      const paths = [...new Set(touched)].filter((path) => known.has(path));
      if (paths.length === 0) return undefined;
      const timeoutMs = Math.min(afterMs, remainingMs());
      const all = await Promise.all(paths.map((path) => compareOne(path, timeoutMs)));
      return toResult(all);
    },
  };
}

/** The same files, which first ask about a file that is about to change. */
function noting(files: Files, note: (path: string, to?: string) => Promise<void>): Files {
  return {
    ...files,
    async change(path, decide, options) {
      await note(path);
      return files.change(path, decide, options);
    },
    async rename(from, to) {
      await note(from, to);
      return files.rename(from, to);
    },
  };
}

function countErrors(items: readonly CodeDiagnostic[]): number {
  return items.filter(({ severity }) => severity === 'error').length;
}

function toResult(all: readonly (Compared | undefined)[]): PostEditResult {
  const compared = all.filter((one) => one !== undefined);
  const items = compared.flatMap(({ path, fresh }) => fresh.map((item) => ({ path, ...item })));
  const [newErrors, errors] = [countErrors(items), compared.reduce((sum, one) => sum + one.errors, 0)];
  const isKnown = compared.length === all.length;
  const structured = { known: isKnown, new_errors: newErrors, errors, items: items.slice(0, maxShown) };
  const warnings = items.length - newErrors;
  const counts = [`new errors: ${newErrors}`, ...(warnings > 0 ? [`new warnings: ${warnings}`] : [])];
  const head = compared.length === 0 ? [] : [`${counts.join(', ')} (errors in all: ${errors})`];
  const rows = items.slice(0, maxShown).map(({ path, ...item }) => renderDiagnostic(path, item));
  const more = items.length > maxShown ? [`(${items.length - maxShown} more)`] : [];
  const late = isKnown ? [] : ['new errors: not known yet; ask diagnostics'];
  return {
    sections: [[...head, ...rows, ...more, ...late].join('\n')],
    notices: [],
    structured: { diagnostics: structured },
  };
}
