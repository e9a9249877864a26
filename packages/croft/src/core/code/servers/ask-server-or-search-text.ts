import { AppError } from '@croft/protocol';
import type { LocatedSymbol } from '../ports/code-questions.ts';
import type { LanguageServer, LanguageServers } from '../ports/language-servers.ts';
import type { CodeContext } from './code-context.ts';

interface AskOrSearch<T, Target extends LocatedSymbol> {
  locate(): Promise<Target>;
  ask(server: LanguageServer, target: Target): Promise<T>;
  /** Answers without a server; `why` says why there is none. Absent: the call fails. */
  search?(why: string): Promise<T>;
}

/** Asks the server of the symbol's language; if there is none, searches by text. */
export async function askServerOrSearchText<T, Target extends LocatedSymbol>(
  context: CodeContext,
  { locate, ask, search }: AskOrSearch<T, Target>,
): Promise<T> {
  try {
    const target = await locate();
    return await useServerOf(target.path, context, (server) => ask(server, target));
  } catch (thrown) {
    if (!search || !AppError.is(thrown) || !['E_NO_SERVER', 'E_NOT_PARSED'].includes(thrown.code)) throw thrown;
    return search(thrown.message);
  }
}

/** Throws `E_NO_SERVER` for a file whose language has no server. */
export function useServerOf<T>(
  path: string,
  context: CodeContext,
  work: (server: LanguageServer) => Promise<T>,
): Promise<T> {
  const servers = serversOf(context);
  const definition = servers.definitionFor(path);
  if (!definition) throw new AppError('E_NO_SERVER', `no language server is known for ${path}`, { details: { path } });
  return servers.use(definition, context, work);
}

/** Throws `E_NO_SERVER` with the reason why the workspace has no servers at all. */
export function serversOf({ workspace: { languageServers } }: CodeContext): LanguageServers {
  if (typeof languageServers !== 'string') return languageServers;
  throw new AppError('E_NO_SERVER', `this workspace has no language servers: ${languageServers}`);
}
