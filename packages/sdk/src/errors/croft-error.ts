import { AppError, type Approval, type ErrorBody, type ErrorCode, ErrorEnvelope, errorCatalog } from '@croft/protocol';
import type { CommandResult } from '../box/command-result.ts';

/** Types of `details` by error code, for the codes whose details a program acts on. */
interface KnownDetails {
  readonly E_APPROVAL_REQUIRED: { readonly approval: Approval };
  readonly E_APPROVAL_DENIED: { readonly approvalId: string; readonly reason?: string };
  readonly E_APPROVAL_EXPIRED: { readonly approvalId: string; readonly expiresAt: string };
  readonly E_RATE_LIMITED: { readonly retryAfterSeconds: number };
  readonly E_COMMAND_FAILED: { readonly command: string; readonly result: CommandResult };
}

type DetailsOf<Code extends ErrorCode> = Code extends keyof KnownDetails
  ? KnownDetails[Code]
  : Readonly<Record<string, unknown>>;

export interface CroftErrorOptions {
  readonly details?: Record<string, unknown>;
  readonly cause?: unknown;
  readonly hint?: string | undefined;
  /** The request by which the log of the server names this failure. */
  readonly requestId?: string | undefined;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
}

class CroftFailure<Code extends ErrorCode = ErrorCode> extends AppError {
  override readonly name: string = 'CroftError';
  declare readonly code: Code;
  declare readonly details: DetailsOf<Code> & Record<string, unknown>;
  readonly requestId: string | undefined;
  /** Seconds to wait before the request is made again, where the server says so. */
  readonly retryAfter: number | undefined;

  constructor(code: Code, message: string, options: CroftErrorOptions = {}) {
    const { requestId, retryAfter, ...others } = options;
    super(code, message, others);
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }

  /** Compares the name instead of using `instanceof`, so that it works if two copies of this package are loaded. */
  static override is(value: unknown): value is CroftError {
    return value instanceof Error && value.name === 'CroftError';
  }
}

/** Everything that this package throws on purpose. After `error.code === 'E_…'`, `error.details` has its type. */
export type CroftError = { readonly [Code in ErrorCode]: CroftFailure<Code> }[ErrorCode];

interface CroftErrorClass {
  readonly prototype: CroftError;
  new <Code extends ErrorCode>(code: Code, message: string, options?: CroftErrorOptions): CroftFailure<Code>;
  is(value: unknown): value is CroftError;
}
export const CroftError = CroftFailure as unknown as CroftErrorClass;

/** A proxy may answer with HTML, so an unknown body is a failure too. */
export async function toCroftError(response: Response): Promise<AppError> {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const retryAfter = toSeconds(headers.get('retry-after'));
  const body = ErrorEnvelope.safeParse(await response.json().catch(() => undefined));
  if (!body.success) {
    const message = `the server answered ${status} without a reason`;
    return new CroftError('E_INTERNAL', message, { requestId, retryAfter, details: { status } });
  }
  return toCroftErrorOf(body.data.error, { requestId, retryAfter });
}

/** An error as the server sends it. */
export function toCroftErrorOf(
  { code, message, details, hint }: ErrorBody,
  more: Pick<CroftErrorOptions, 'requestId' | 'retryAfter'> = {},
): AppError {
  const ownHint = hint === errorCatalog[code].hint ? undefined : hint;
  return new CroftError(code, message, { details, hint: ownHint, ...more });
}

/** `Retry-After` is a number of seconds or a date. */
export function toSeconds(header: string | null): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
