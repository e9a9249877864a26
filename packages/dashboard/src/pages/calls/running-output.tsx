import type { CallOutput } from '@croft/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FeedRow } from '../../live/feed-row.ts';
import { Marked } from '../../parts/marked-text.tsx';
import { request, segment } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';

const everyMs = 500;

/** The output of a running call. When the call has ended, the last output stays. */
export function RunningOutput({ call }: { readonly call: FeedRow }) {
  const [output, setOutput] = useState('');
  const box = useRef<HTMLPreElement>(null);
  const isRunning = call.outcome === 'running' && call.agentId !== '' && mayDo('read');
  useEffect(() => setOutput(''), [call.key]);
  useEffect(() => {
    if (!isRunning) return;
    const path = `/v1/agents/${segment(call.agentId)}/calls/${segment(call.key)}/output`;
    const stopping = new AbortController();
    const read = async () => {
      // There is no output if the call runs no command, or has just ended.
      const answer = await request<CallOutput>('GET', path, { signal: stopping.signal }).catch(() => undefined);
      if (answer && !stopping.signal.aborted) setOutput(answer.output);
    };
    const timer = setInterval(() => !document.hidden && void read(), everyMs);
    void read();
    return () => {
      clearInterval(timer);
      stopping.abort();
    };
  }, [isRunning, call.key]);
  useEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [output]);
  if (output === '') return null;
  return (
    <section class="running" aria-label="Output">
      <h3>
        {isRunning ? 'Output so far' : 'Output, as it was seen last'}
        {isRunning && <span class="running-sign" aria-hidden="true" />}
      </h3>
      <pre class="output" ref={box} tabIndex={0}>
        <Marked text={output} />
      </pre>
    </section>
  );
}
