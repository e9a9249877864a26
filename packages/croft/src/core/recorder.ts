import { AppError } from '@croft/protocol';
import { redactDeep } from '../lib/redact.ts';
import type { Call } from './calls.ts';
import type { Denial } from './commands/sandbox.ts';
import type { Emit } from './events.ts';
import type { Journal } from './journal.ts';
import { toLoggable } from './loggable.ts';
import type { Secrets } from './secrets.ts';
import type { ToolResult } from './tool.ts';
import type { WorkspaceSet } from './workspace-set.ts';

export interface RecorderOptions {
  readonly workspaces: WorkspaceSet;
  readonly secrets: Secrets;
  readonly journal: Journal | undefined;
  readonly emit: Emit;
}

/** A call as it came in. */
export interface CallRecord {
  readonly name: string;
  readonly rawInput: unknown;
  readonly session: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Tells of every call: that it came, how it ended, and what it was refused. In one shape, whichever tool it was. */
export function createRecorder({ workspaces, secrets, journal, emit }: RecorderOptions) {
  return async function record(
    { name, rawInput, session }: CallRecord,
    call: Call,
    work: (
      violate: (denial: Denial) => void,
      onFailure: (workspace: string, error: AppError) => void,
    ) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const startedAt = performance.now();
    const log = (fields: unknown) => toLoggable(fields, secrets.redact);
    const about = () => ({ ...log({ tool: name, workspace: nameOf(workspaceHint(rawInput)) }), session });
    const violations: Fields[] = [];
    const tell = (violation: Fields) => {
      violations.push(violation);
      emit('lifecycle.sandbox.violation', () => ({ ...about(), ...violation }));
    };
    const violate = (denial: Denial) => tell(redactDeep({ ...denial }, secrets.redact));
    const tellIfViolation = ({ code, details, traits: { kind } }: AppError, where: Fields = {}) => {
      if (kind === 'sandbox_violation') tell({ code, kind, ...details, ...where });
    };
    const end = async (outcome: Fields) => {
      const ended = () => ({ ...about(), duration_ms: elapsed(startedAt), ...outcome });
      emit('lifecycle.tool.result', ended);
      if (journal) await journal.ended(session, ended(), violations);
    };

    emit('lifecycle.tool.call', () => ({ ...about(), arguments: log(rawInput) }));
    try {
      const { denials = [], ...result } = await work(violate, (workspace, error) => {
        tellIfViolation(redactError(error), { workspace });
      });
      denials.forEach(violate);
      await end({ is_error: false });
      return result;
    } catch (thrown) {
      const error = redactError(call.toFailure(thrown));
      tellIfViolation(error);
      await end({ is_error: true, code: error.code });
      throw error;
    }
  };

  function redactError({ code, message, details, cause }: AppError): AppError {
    const shown = { details: redactDeep(details, secrets.redact), cause };
    return new AppError(code, secrets.redact(message), shown);
  }

  function nameOf(hint: unknown): string | null {
    if (typeof hint === 'string' && hint.trim() !== '') return hint.trim();
    const isClear = workspaces.names.length === 1 || workspaces.fallback === 'none';
    return (isClear ? workspaces.fallbackName() : undefined) ?? null;
  }
}

/** What the caller passed as `workspace`, before anything is known of the rest. */
export function workspaceHint(rawInput: unknown): unknown {
  return typeof rawInput === 'object' && rawInput !== null && 'workspace' in rawInput ? rawInput.workspace : undefined;
}

function elapsed(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
