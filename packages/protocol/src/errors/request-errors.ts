import type { ErrorTraits } from './error-traits.ts';

/** Errors of requests: keys, approvals, limits, and connections to a server. */
export const requestErrors = {
  E_UNAUTHORIZED: {
    kind: 'unauthorized',
    status: 401,
    hint: 'Send Authorization: Bearer with a token or key that this address takes.',
  },
  E_FORBIDDEN: {
    kind: 'forbidden',
    status: 403,
    hint: 'Use a key with the scope that the message names, of an active account, at the server’s own address.',
  },
  E_NOT_FOUND: { kind: 'not_found', status: 404, hint: 'Check the name or id against a list of what exists.' },
  E_READ_ONLY: {
    kind: 'read_only',
    status: 403,
    hint: 'Choose a workspace that has a sandbox, or ask the operator to give this one a sandbox.',
    plain: true,
  },
  E_APPROVAL_REQUIRED: {
    kind: 'approval_required',
    status: 202,
    hint: 'A person has to approve this call. Repeat exactly this call when a person has approved it.',
  },
  E_APPROVAL_DENIED: {
    kind: 'approval_denied',
    status: 403,
    hint: 'Do not repeat the call. Do it another way, or ask the person what they want.',
  },
  E_APPROVAL_EXPIRED: {
    kind: 'approval_expired',
    status: 410,
    hint: 'Nothing ran. Make the call again: a new approval will be asked for.',
  },
  E_APPROVAL_MISMATCH: {
    kind: 'approval_mismatch',
    status: 409,
    hint: 'An approval is for one exact call of one session. Make that call, or ask for a new approval.',
  },
  E_APPROVAL_SETTLED: {
    kind: 'approval_settled',
    status: 409,
    hint: 'An approval is decided once. Look at its state; a new call asks for a new approval.',
  },
  // The call did not run: a client may send the same request to the server that the message names.
  E_OTHER_SERVER: {
    kind: 'other_server',
    status: 421,
    hint: 'Send the call to the server that the message names. A workspace in a bucket works on every server.',
  },
  E_IN_USE: { kind: 'in_use', status: 409, hint: 'Remove it from everything that the message names first.' },
  E_PRECONDITION_FAILED: {
    kind: 'precondition_failed',
    status: 412,
    hint: 'Nothing was changed. Get it again, and make the change to its present content.',
  },
  E_IDEMPOTENCY_CONFLICT: {
    kind: 'idempotency_conflict',
    status: 409,
    hint: 'Nothing was done. Use a new Idempotency-Key for another request.',
  },
  E_METHOD_NOT_ALLOWED: { kind: 'method_not_allowed', status: 405, hint: 'Use one of the methods in Allow.' },
  E_UNREACHABLE: {
    kind: 'unreachable',
    status: 503,
    hint: 'Nothing was sent. Check the address, and that the server runs.',
  },
  E_CONNECTION_LOST: {
    kind: 'connection_lost',
    status: 503,
    hint: 'The request may have been carried out. Check what it did before you repeat it.',
  },
  E_COMMAND_FAILED: {
    kind: 'command_failed',
    status: 422,
    hint: 'The command ran. `details.result` has its output; correct what it complains about.',
  },
  E_SERVER_LOST: {
    kind: 'server_lost',
    status: 503,
    hint: 'The call may have run. Check what it did before you repeat it.',
  },
  // An answer of one server to another: callers never see it.
  E_FORWARD_LOOP: {
    kind: 'forward_loop',
    status: 508,
    hint: 'Send the request without the header croft-forward, which servers add by themselves.',
  },
  E_RATE_LIMITED: {
    kind: 'rate_limited',
    status: 429,
    hint: 'Nothing was done. Wait as long as Retry-After says, then send the request again.',
  },
  E_STOPPING: {
    kind: 'stopping',
    status: 503,
    hint: 'Nothing was done. Make the call again in a moment, on the server that takes its place.',
  },
  E_INTERNAL: { kind: 'internal', status: 500, hint: 'Tell the operator; the server’s log has the cause.' },
} as const satisfies Record<string, ErrorTraits>;
