import type { AgentSession } from '@croft/protocol';
import type { z } from 'zod';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { useResource } from '../../server/use-resource.ts';

type Session = z.output<typeof AgentSession>;

export function Sessions({ id }: { readonly id: string }) {
  const sessions = useResource<{ sessions: readonly Session[] }>(
    `/v1/agents/${encodeURIComponent(id)}/sessions?limit=200`,
  );
  return (
    <Loaded from={sessions}>
      {({ sessions: found }) =>
        found.length === 0 ? (
          <Empty>
            <p>No session is known. A session begins with its first call.</p>
          </Empty>
        ) : (
          <ul class="things">
            {found.map(({ session, parent, usedAt }) => (
              <li class="thing" key={session}>
                <span class="thing-name">
                  <Marked text={session} />
                </span>
                <span class="thing-about">{parent !== undefined && `child of ${parent}`}</span>
                <span class="thing-end">
                  used <Ago at={usedAt} />
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}
