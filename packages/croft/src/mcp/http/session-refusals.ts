import type { AppError, ErrorCode } from '@croft/protocol';

const sessionNotFound = -32_001;
const invalidParams = -32_602;
const internalError = -32_603;
const codes: Partial<Record<ErrorCode, number>> = { E_NOT_FOUND: sessionNotFound, E_INVALID_INPUT: invalidParams };

/** The answer to a request whose session cannot be used. */
export function refuseSession(error: AppError, body: unknown): Response {
  const code = codes[error.code] ?? internalError;
  return toResponse({ code, message: error.text, data: error.toJSON() }, idOf(body), error.traits.status);
}

/** The answer to an `Mcp-Session-Id` that has ended. It tells the client to do the handshake again. */
export function unknownConnection(reason?: string): Response {
  const why = reason === undefined ? '' : `; it was ended because ${reason}`;
  const message = `Session not found${why}: send a new initialize`;
  return toResponse({ code: sessionNotFound, message }, null, 404);
}

function toResponse(error: object, id: unknown, status: number): Response {
  return Response.json({ jsonrpc: '2.0', error, id }, { status });
}

function idOf(body: unknown): unknown {
  const isMessage = typeof body === 'object' && body !== null && 'id' in body;
  return isMessage && (typeof body.id === 'string' || typeof body.id === 'number') ? body.id : null;
}
