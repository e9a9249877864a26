import { AppError } from '@croft/protocol';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Asker } from '../core/approvals/approvals.ts';
import { sha256 } from '../lib/crypto/sha256.ts';
import { askAtOnce, createWaiter } from './approval-askers.ts';
import { type ApprovalQuestion, toApprovalForm, toDecision } from './approval-form.ts';
import type { Progress } from './progress-notifications.ts';

export interface ElicitationOptions {
  /**
   * At least 32 bytes, and the same on every server: signs the state that clients carry from one request to the next.
   */
  readonly key: Uint8Array | string;
  /** How long a call waits for an approval by somebody who is not at the client. */
  readonly waitMs?: number | undefined;
  /** Whether a client may ask its own person. If false, answers that come through the client count for nothing. */
  readonly trustsClients?: boolean | undefined;
}

export type Elicitation = ReturnType<typeof createElicitation>;
export type ClientElicitation = Elicitation['distrusting'];

/** A call that has just arrived. */
interface ArrivedCall {
  /** The id of the session. */
  readonly session: string;
  readonly progress: Progress;
}

/** A call, with the way to ask its person. */
export interface ElicitedCall {
  readonly asker: Asker;
  /**
   * Converts a failure into the answer: the question for the person, or the error without what the client already
   * knows.
   */
  answerFailure(error: AppError): Promise<InputRequiredResult | AppError>;
}

/** The state that a client of protocol 2026 sends back with its answer. */
interface State {
  readonly approvalId: string;
  /** A hash, because the client can read this state. */
  readonly session: string;
}

/**
 * Less than the minute after which most clients give up: the client must still be there to hear which approval it waits
 * for.
 */
const defaultWaitMs = 50_000;
const answerKey = 'approval';
/** Longer than any approval lives. The approval's own expiry is what counts. */
const daySeconds = 86_400;

/**
 * Asks the person at the client for approvals, in the way of the client's protocol: in 2025 the server asks while the
 * call waits; in 2026 the call is answered with the question, and the client repeats the call with the answer. A client
 * that cannot ask is told that the call waits.
 */
export function createElicitation({ key, waitMs = defaultWaitMs, trustsClients = true }: ElicitationOptions) {
  const codec = createRequestStateCodec<State>({ key, ttlSeconds: daySeconds });

  return { ...forClients(trustsClients), /** For clients that may not decide. */ distrusting: forClients(false) };

  function forClients(trusts: boolean) {
    return {
      /** For the server's `requestState`: a state that was not signed here does not reach a call. */
      verify: codec.verify,

      /** Throws `E_APPROVAL_MISMATCH` for the answer to a question of another session. */
      begin(server: Server, context: ServerContext, { session, progress }: ArrivedCall): ElicitedCall {
        const waiter = createWaiter(progress, waitMs);
        const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026';
        const capabilities = isModern ? declaredIn(context) : server.getClientCapabilities();
        if (!trusts || !hasForms(capabilities)) return { asker: waiter, answerFailure: withoutInput };
        return isModern
          ? beginModern(context, sha256(session), waiter)
          : { asker: askAtOnce(context, waiter), answerFailure: withoutInput };
      },
    };
  }

  function beginModern(context: ServerContext, session: string, waiter: Asker): ElicitedCall {
    const state = context.mcpReq.requestState<State>();
    if (!state) return { asker: { label: 'elicitation', waitMs: 0 }, answerFailure: ask };
    if (state.session !== session)
      throw new AppError('E_APPROVAL_MISMATCH', 'this answer belongs to the question of another session');
    const answer = readAnswer(context);
    const { approvalId } = state;
    // A person who cancels the question is not asked again. Others may still decide.
    if (answer === 'cancel') return { asker: { ...waiter, approvalId }, answerFailure: withoutInput };
    const asker: Asker = { label: 'elicitation', approvalId, waitMs: 0, ask: async () => answer };
    return { asker, answerFailure: ask };

    async function ask(error: AppError): Promise<InputRequiredResult | AppError> {
      const approval = approvalIn(error);
      if (!approval) return error;
      const requestState = await codec.mint({ approvalId: approval.approvalId, session });
      return inputRequired({
        inputRequests: { [answerKey]: inputRequired.elicit(toApprovalForm(approval)) },
        requestState,
      });
    }
  }
}

function readAnswer({ mcpReq }: ServerContext): ReturnType<typeof toDecision> | 'cancel' {
  const response = inputResponse(mcpReq.inputResponses, answerKey);
  if (response.kind !== 'elicit') return undefined;
  return response.action === 'cancel' ? 'cancel' : toDecision(response.action, response.content);
}

/** In protocol 2026 each request declares what its client can do. */
function declaredIn({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

/** A client that names no modes can show forms, which were the only mode at first. */
function hasForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Removes the input from the error: the client sent the input and knows it. */
async function withoutInput(error: AppError): Promise<AppError> {
  const approval = approvalIn(error);
  if (!approval) return error;
  const { input: _, ...shown } = approval;
  const details = { ...error.details, approval: shown };
  return new AppError(error.code, error.message, { details, cause: error, hint: error.ownHint });
}

function approvalIn({ code, details }: AppError): (ApprovalQuestion & { readonly input?: unknown }) | undefined {
  return code === 'E_APPROVAL_REQUIRED' ? (details.approval as ApprovalQuestion | undefined) : undefined;
}
