import { AppError, type ErrorCode } from '@croft/protocol';
import { cutText } from '../../lib/text/cut-text.ts';
import { addNotices } from '../tools/result-notices.ts';
import type { ToolResult } from '../tools/tool.ts';
import type { Workspace, WorkspaceCall, WrapCall } from '../workspace/workspace.ts';

type Work = Parameters<WrapCall>[1];

interface CallToWrap {
  /** Resolves when the audit trail has the beginning of the call: `work` waits for it. */
  readonly begun: Promise<void>;
  work(...given: Parameters<Work>): Promise<ToolResult>;
}

/** After these errors the changes of the call still exist locally; they are stored or recorded later. */
const transientCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'E_STORAGE_UNAVAILABLE',
  'E_RUNNER_LOST',
  'E_TIMEOUT',
]);
/** Failures of storage: whether to repeat the call depends on how far it had come. */
const storageCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['E_STORAGE_UNAVAILABLE', 'E_STORAGE_FAILED']);
const nothingDone = 'Nothing was done. Make the call again in a moment; if the error persists, tell the operator.';
const checkFirst = 'Check what the call did before you repeat any of it. If the error persists, tell the operator.';
const maxShown = 100_000;

/**
 * Runs a call inside `Workspace.wrapCall`. A call that has run is answered with its result, whatever fails afterwards:
 * an outage becomes a notice, and any other error carries the result. So no caller has to repeat a call to see its
 * output, and only a call that did nothing is advised to be repeated.
 */
export async function runWrappedCall(
  { wrapCall = (_, work) => work() }: Pick<Workspace, 'wrapCall'>,
  call: WorkspaceCall,
  { begun, work }: CallToWrap,
): Promise<ToolResult> {
  // A failure of `begun` becomes the failure of the call, unless the call failed earlier.
  begun.catch(() => {});
  let hasStarted = false;
  let ran: ToolResult | undefined;
  try {
    return await wrapCall(call, async (reporter) => {
      await begun;
      hasStarted = call.access !== 'read';
      ran = await work(reporter);
      return ran;
    });
  } catch (thrown) {
    if (!AppError.is(thrown)) throw thrown;
    if (ran && hasStarted) return answerAfter(ran, thrown);
    if (!hasStarted) throwNothingDone(thrown);
    throw storageCodes.has(thrown.code) ? withHint(thrown, checkFirst) : thrown;
  }
}

/** Rethrows an error that prevented the call from starting, with the hint that it may be repeated. */
export function throwNothingDone(thrown: unknown): never {
  if (!AppError.is(thrown) || !storageCodes.has(thrown.code) || thrown.ownHint !== undefined) throw thrown;
  throw withHint(thrown, nothingDone);
}

function answerAfter(ran: ToolResult, error: AppError): ToolResult {
  if (!transientCodes.has(error.code)) throw withAnswer(ran, error);
  const notice = `The call ran, but not everything after it was done: ${error.message}. Do not repeat the call for that.`;
  return addNotices(ran, [notice]);
}

function withAnswer({ text, structured }: ToolResult, error: AppError): AppError {
  const { code, message, details, cause, ownHint } = error;
  const shown = text.trim() === '' ? '' : `\nThe call itself ran. Its answer:\n${cutText(text, maxShown)}`;
  const hint = storageCodes.has(code) || code === 'E_STORAGE_FULL' ? checkFirst : ownHint;
  return new AppError(code, `${message}${shown}`, { details: { ...details, answer: structured }, cause, hint });
}

function withHint({ code, message, details, cause }: AppError, hint: string): AppError {
  return new AppError(code, message, { details, cause, hint });
}
