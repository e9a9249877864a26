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
import { sha256 } from '../lib/sha256.ts';
import { type Asked, toDecision, toForm } from './approval-form.ts';
import { askAtOnce, createWaiter } from './askers.ts';

export interface AskingOptions {
  /** Of 32 bytes or more: signs what clients carry from one request to the next. The same on every server. */
  readonly key: Uint8Array | string;
  /** How long a call waits for somebody who is not at the client. */
  readonly waitMs?: number | undefined;
  /** Whether a client may put the question to its own person. False: what it says of them counts for nothing. */
  readonly trustsClients?: boolean | undefined;
}

export type Asking = ReturnType<typeof createAsking>;
export type AskingDoor = Asking['distrusting'];

/** One call, and how its person can be asked. */
export interface AskedCall {
  readonly asker: Asker;
  /** What to answer instead of a failure, or the failure as the client may have it. */
  settle(error: AppError): Promise<InputRequiredResult | AppError>;
}

/** What a client of 2026 brings back with its answer. */
interface State {
  readonly approvalId: string;
  /** Hashed, because the client can read this. */
  readonly session: string;
}

/** Below the minute after which most clients give up: they must be there to hear which approval they wait for. */
const defaultWaitMs = 50_000;
const answerKey = 'approval';
/** Long enough for any approval, whose own time is what counts. */
const daySeconds = 86_400;

/**
 * Puts approvals to the person at the client, in the way of its era: in 2025 the server asks while the call waits; in
 * 2026 the call is answered with the question, and made again with the answer. A client that cannot ask is told that the
 * call waits.
 */
export function createAsking({ key, waitMs = defaultWaitMs, trustsClients = true }: AskingOptions) {
  const codec = createRequestStateCodec<State>({ key, ttlSeconds: daySeconds });

  return { ...toDoor(trustsClients), /** For a client that may not decide for anybody. */ distrusting: toDoor(false) };

  function toDoor(trusts: boolean) {
    return {
      /** For the server's `requestState`: what was not signed here does not reach a call. */
      verify: codec.verify,

      /** Throws `E_APPROVAL_MISMATCH` for an answer that was asked for in another session. */
      begin(server: Server, context: ServerContext, session: string): AskedCall {
        const waiter = createWaiter(context, waitMs);
        const isModern = (server.getNegotiatedProtocolVersion() ?? '') >= '2026';
        const capabilities = isModern ? declaredIn(context) : server.getClientCapabilities();
        if (!trusts || !hasForms(capabilities)) return { asker: waiter, settle };
        return isModern ? beginModern(context, sha256(session), waiter) : { asker: askAtOnce(context, waiter), settle };
      },
    };
  }

  function beginModern(context: ServerContext, session: string, waiter: Asker): AskedCall {
    const state = context.mcpReq.requestState<State>();
    if (!state) return { asker: { label: 'elicitation', waitMs: 0 }, settle: ask };
    if (state.session !== session)
      throw new AppError('E_APPROVAL_MISMATCH', 'that is the answer to a question of another session');
    const answer = readAnswer(context);
    const { approvalId } = state;
    // Somebody who does not want to answer is not asked again: others may decide.
    if (answer === 'cancel') return { asker: { ...waiter, approvalId }, settle };
    const asker: Asker = { label: 'elicitation', approvalId, waitMs: 0, ask: async () => answer };
    return { asker, settle: ask };

    async function ask(error: AppError): Promise<InputRequiredResult | AppError> {
      const approval = approvalIn(error);
      if (!approval) return error;
      const requestState = await codec.mint({ approvalId: approval.approvalId, session });
      return inputRequired({ inputRequests: { [answerKey]: inputRequired.elicit(toForm(approval)) }, requestState });
    }
  }
}

function readAnswer({ mcpReq }: ServerContext): ReturnType<typeof toDecision> | 'cancel' {
  const response = inputResponse(mcpReq.inputResponses, answerKey);
  if (response.kind !== 'elicit') return undefined;
  return response.action === 'cancel' ? 'cancel' : toDecision(response.action, response.content);
}

/** In 2026 each request says for itself what its client can do. */
function declaredIn({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

/** A client that says nothing of modes can show a form: that was all there was. */
function hasForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** The client knows the input: it sent it. */
async function settle(error: AppError): Promise<AppError> {
  const approval = approvalIn(error);
  if (!approval) return error;
  const { input: _, ...shown } = approval;
  return new AppError(error.code, error.message, { details: { ...error.details, approval: shown }, cause: error });
}

function approvalIn({ code, details }: AppError): (Asked & { readonly input?: unknown }) | undefined {
  return code === 'E_APPROVAL_REQUIRED' ? (details.approval as Asked | undefined) : undefined;
}
