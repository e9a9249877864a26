import { AppError } from '@croft/protocol';
import { redactDeep } from '../../lib/redaction/redact.ts';
import type { SandboxDenial } from '../commands/sandbox.ts';
import type { CallJournal } from '../events/call-journal.ts';
import type { Emit } from '../events/emitter.ts';
import { summarizeArguments, titleOfCall } from '../events/summarize-arguments.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { withNotices } from '../tools/result-notices.ts';
import type { ToolResult } from '../tools/tool.ts';
import type { WorkspaceSet } from '../workspace/workspace-set.ts';
import type { ActiveCall } from './active-calls.ts';

interface RecorderOptions {
  readonly workspaces: WorkspaceSet;
  readonly secrets: Secrets;
  readonly journal: CallJournal | undefined;
  readonly emit: Emit;
  /** Writes a line to the server's log. */
  onWarning(message: string): void;
}

/** A call as it was received. */
export interface ReceivedCall {
  readonly name: string;
  readonly rawInput: unknown;
  readonly session: string;
  /**
   * Saves the session state that the call changed, in the same transaction as the end of the call in the audit trail.
   * Resolves with a message for everything that could not be saved.
   */
  saveSession?(): Promise<readonly string[]>;
}

const maxToolName = 200;

type Fields = Readonly<Record<string, unknown>>;

/** Reports every call in one form for all tools: its start, its end and its violations. */
export function createCallRecorder({ workspaces, secrets, journal, emit, onWarning }: RecorderOptions) {
  return async function record(
    { name, rawInput, session, saveSession }: ReceivedCall,
    call: ActiveCall,
    work: (
      violate: (denial: SandboxDenial) => void,
      onFailure: (workspace: string, error: AppError) => void,
    ) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const startedAt = performance.now();
    const log = (fields: unknown) => summarizeArguments(fields, secrets.redact);
    const workspace = nameOf(workspaceHint(rawInput));
    const about = () => ({ ...log({ tool: name, workspace }), session });
    const shown = journal && { ...idOf(workspace), title: titleOfCall(rawInput, secrets.redact) };
    const violations: Fields[] = [];
    const addViolation = (violation: Fields) => {
      violations.push(violation);
      emit('lifecycle.sandbox.violation', () => ({ ...about(), ...violation }));
    };
    const violate = (denial: SandboxDenial) => addViolation(redactDeep({ ...denial }, secrets.redact));
    const addIfViolation = ({ code, details, traits: { kind } }: AppError, where: Fields = {}) => {
      if (kind === 'sandbox_violation') addViolation({ code, kind, ...details, ...where });
    };
    /** Resolves with messages for the caller about what could not be recorded. Never throws: the call is over. */
    const end = async (outcome: Fields): Promise<string[]> => {
      const ended = () => ({ ...about(), duration_ms: elapsed(startedAt), ...outcome });
      emit('lifecycle.tool.result', ended);
      const [failure, unsaved = []] = await Promise.all([
        journal?.ended(session, { ...ended(), ...shown }, violations, call.id).catch(AppError.from),
        saveSession?.(),
      ]);
      // After a failed call, only a failure of the audit trail is added to its error.
      const words = [...(outcome.is_error === true ? [] : unsaved), ...(failure ? [failure.message] : [])];
      return words.map((each) => secrets.redact(each));
    };

    journal?.started?.(session, { ...about(), ...shown }, call.id);
    emit('lifecycle.tool.call', () => ({ ...about(), arguments: log(rawInput) }));
    try {
      const result = await work(violate, (workspace, error) => {
        addIfViolation(redactError(error), { workspace });
      });
      return withNotices(result, await end({ is_error: false, ...exitOf(result) }));
    } catch (thrown) {
      const error = redactError(call.toFailure(thrown));
      addIfViolation(error);
      if (error.code === 'E_INTERNAL') logCause(name, error);
      throw withMessage(error, await end({ is_error: true, code: error.code }));
    }
  };

  function redactError({ code, message, details, cause, ownHint }: AppError): AppError {
    const shown = { details: redactDeep(details, secrets.redact), cause, hint: ownHint && secrets.redact(ownHint) };
    return new AppError(code, secrets.redact(message), shown);
  }

  /** The error of the caller says that the log has the cause. */
  function logCause(tool: string, { message, cause }: AppError): void {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? message);
    onWarning(secrets.redact(`${tool.slice(0, maxToolName)} failed: ${reason}`));
  }

  /** The id of a workspace, for an account: its agents may use other names for it. */
  function idOf(workspace: string | null): Fields {
    const found = workspaces.list().find(({ name }) => name === workspace);
    return found && found.id !== found.name ? { workspaceId: found.id } : {};
  }

  function nameOf(hint: unknown): string | null {
    if (typeof hint === 'string' && hint.trim() !== '') return hint.trim();
    const isClear = workspaces.names.length === 1 || workspaces.fallback === 'none';
    return (isClear ? workspaces.fallbackName() : undefined) ?? null;
  }
}

/** How the program of a call ended: a command that fails is not a call that fails. */
function exitOf({ structured }: ToolResult): Fields {
  const { exitCode } = structured as { readonly exitCode?: unknown };
  return typeof exitCode === 'number' ? { exit_code: exitCode } : {};
}

/** Returns the `workspace` argument of a call before the input is parsed. */
export function workspaceHint(rawInput: unknown): unknown {
  return typeof rawInput === 'object' && rawInput !== null && 'workspace' in rawInput ? rawInput.workspace : undefined;
}

function withMessage(error: AppError, more: readonly string[]): AppError {
  if (more.length === 0) return error;
  const { code, message, details, cause, ownHint: hint } = error;
  return new AppError(code, [message, ...more].join('\n'), { details, cause, hint });
}

function elapsed(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 100) / 100;
}
