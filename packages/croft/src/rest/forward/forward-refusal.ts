import { AppError } from '@croft/protocol';

const refusals = new WeakSet<AppError>();

/** Marks an error as thrown before anything was done, so that the server that forwarded the request can try again. */
export function forwardRefusal(error: AppError): AppError {
  refusals.add(error);
  return error;
}

export function isForwardRefusal(error: AppError): boolean {
  return refusals.has(error);
}

/** The request was forwarded already, and what it needs is not here, or not any more. */
export function loop(): AppError {
  return forwardRefusal(
    new AppError('E_FORWARD_LOOP', 'the request was forwarded to this server, which does not have what it needs'),
  );
}

export function serverLost(address: string, reason: string, sent: boolean): AppError {
  const happened = sent ? 'the call was sent to it, and may have run' : 'the call was not sent, and nothing was done';
  return new AppError('E_SERVER_LOST', `the server ${address} did not answer (${reason}): ${happened}`, {
    details: { sent },
    ...(!sent && { hint: 'Try again in a moment.' }),
  });
}
