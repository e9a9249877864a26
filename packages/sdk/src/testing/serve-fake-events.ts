import type { FakeRequest } from './fake-routes.ts';

/** The rows of the audit trail after a position, and those that come, until the signal. */
export function serveEvents({ state, query, headers, signal }: FakeRequest): Response {
  let next = Number(headers.get('last-event-id') ?? query.get('after') ?? state.audit.length);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = () => {
        for (; next < state.audit.length; next++) {
          const event = JSON.stringify({ type: 'audit', record: state.audit[next] });
          controller.enqueue(encoder.encode(`id: ${next + 1}\ndata: ${event}\n\n`));
        }
      };
      const stop = state.onLog(send);
      send();
      signal.addEventListener(
        'abort',
        () => {
          stop();
          controller.error(signal.reason);
        },
        { once: true },
      );
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
