import { codeServerError, RequestTimeoutError, ResponseError } from './server-errors.ts';
import type { LanguageServerLaunch, ServerProcess } from './server-process.ts';

const usualRequestMs = 20_000;
/** Requests that time out in a row, after which the process is replaced. */
const maxTimeouts = 3;
/** Codes of the protocol for an answer that a change overtook. */
const overtaken = [-32801, -32802];
const maxAttempts = 3;

/** Sends requests with a time limit. A process that does not answer three of them in a row is stopped. */
export function createRequester({ definition }: Pick<LanguageServerLaunch, 'definition'>, process: ServerProcess) {
  const { requestMs = usualRequestMs } = definition;
  let timeouts = 0;

  function toError(thrown: unknown, method: string): unknown {
    if (thrown instanceof ResponseError) {
      const trouble = process.readiness.trouble();
      const why = trouble === '' ? thrown.message : `${thrown.message}; it reports: ${trouble}`;
      return codeServerError(definition, `refused ${method}: ${why}`);
    }
    if (!(thrown instanceof RequestTimeoutError)) return thrown;
    timeouts += 1;
    if (timeouts >= maxTimeouts) void process.stop();
    return codeServerError(definition, `did not answer ${method}: ${thrown.message}`);
  }

  return async function request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await process.rpc.request(method, params, { signal, timeoutMs: requestMs });
        timeouts = 0;
        return answer;
      } catch (thrown) {
        const wasOvertaken = thrown instanceof ResponseError && overtaken.includes(thrown.code);
        if (!wasOvertaken || attempt === maxAttempts) throw toError(thrown, method);
      }
    }
  };
}
