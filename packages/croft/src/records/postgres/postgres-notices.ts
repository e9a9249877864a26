import postgres from 'postgres';
import type { RecordsNotices } from '../../core/accounts/ports/records.ts';
import type { SqlConnection } from '../sql/database.ts';

/** Channels are of a whole database, and tests have several sets of our tables in one: the name tells them apart. */
const channelSql = "SELECT 'croft_' || md5(current_schema()) AS channel";
/** PostgreSQL takes fewer than 8000 bytes. */
const maxBytes = 7000;
/** Texts of this time go out together, and equal ones once. */
const gatherMs = 5;

/** Messages between servers by NOTIFY, on one listening connection. */
export function createPostgresNotices(url: string, ask: SqlConnection['query']): RecordsNotices & AsyncDisposable {
  let listener: ReturnType<typeof postgres> | undefined;
  let channel: Promise<string> | undefined;
  const waiting = new Set<string>();

  function findChannel(): Promise<string> {
    channel ??= ask(channelSql).then(({ rows }) => String(rows[0]?.channel));
    channel.catch(() => {
      channel = undefined;
    });
    return channel;
  }

  async function flush(): Promise<void> {
    const texts = [...waiting];
    waiting.clear();
    const name = await findChannel();
    const all = texts.map(() => '(?)').join(', ');
    await ask(`SELECT pg_notify('${name}', text) FROM (VALUES ${all}) AS sent (text)`, texts);
  }

  return {
    send(text) {
      if (Buffer.byteLength(text) > maxBytes) return;
      if (waiting.size === 0) setTimeout(() => void flush().catch(() => {}), gatherMs).unref();
      waiting.add(text);
    },
    async listen(onMessage) {
      listener ??= postgres(url, {
        ...{ max: 1, fetch_types: false, max_lifetime: null, keep_alive: 30, onnotice: () => {} },
        connection: { application_name: 'croft notices' },
      });
      // The driver connects again after a loss, and then calls the last function.
      await listener.listen(await findChannel(), onMessage, () => onMessage(''));
    },
    async [Symbol.asyncDispose]() {
      await listener?.end({ timeout: 0 }).catch(() => {});
    },
  };
}
