import { AppError } from '@croft/protocol';
import type { LanguageServer } from '../ports/language-servers.ts';

/** The first attempt and two more. */
const maxAttempts = 3;

interface ServerAnswer<T> {
  readonly answer: T;
  /** Paths of the question and of the answer. */
  readonly files: Iterable<string>;
  /** Files whose ranges do not fit the disk: the server knows another version of them. */
  readonly misfits?: Iterable<string>;
}

/**
 * Asks a server about the files as they are on the disk. An answer counts only if none of its files changed meanwhile;
 * otherwise the question is asked again, at most twice, and then throws `E_STALE`.
 */
export async function askUntilFresh<T>(server: LanguageServer, ask: () => Promise<ServerAnswer<T>>): Promise<T> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const version = await server.sync();
    const { answer, files, misfits = [] } = await ask();
    const wrong = [...misfits];
    await server.sync();
    const changed = server.changedSince(version);
    if (wrong.length === 0 && changed !== 'everything' && ![...files].some((path) => changed.has(path))) return answer;
    for (const path of wrong) await server.reopen(path);
  }
  throw new AppError('E_STALE', 'the files changed each time while the language server answered', {
    hint: 'Ask again when no command is changing files.',
  });
}
