/**
 * Answers the requests of a server. A server gets its settings and the workspace, and nothing else: it can show nothing
 * to a person and change no file. Throws for a method that is not known.
 */
export function answerServerRequests(
  method: string,
  params: unknown,
  settings: Readonly<Record<string, unknown>>,
  rootUri: string,
): unknown {
  switch (method) {
    case 'workspace/configuration':
      return itemsOf(params).map((section) => settingsOf(settings, section));
    case 'workspace/workspaceFolders':
      return [{ uri: rootUri, name: 'workspace' }];
    case 'workspace/applyEdit':
      return { applied: false, failureReason: 'edits are applied by rename_symbol and code_actions' };
    case 'window/showDocument':
      return { success: false };
    case 'client/registerCapability':
    case 'client/unregisterCapability':
    case 'window/showMessageRequest':
    case 'window/workDoneProgress/create':
    case 'workspace/diagnostic/refresh':
    case 'workspace/semanticTokens/refresh':
    case 'workspace/inlayHint/refresh':
    case 'workspace/codeLens/refresh':
      return null;
    default:
      throw new Error('not supported');
  }
}

const maxItems = 1000;

function itemsOf(params: unknown): string[] {
  const { items } = (params ?? {}) as { items?: unknown };
  const all = Array.isArray(items) ? items.slice(0, maxItems) : [];
  return all.map((item: unknown) => String((item as { section?: unknown } | null)?.section ?? ''));
}

/** `python.analysis` is the field `analysis` of the section `python`. */
function settingsOf(settings: Readonly<Record<string, unknown>>, section: string): unknown {
  if (section === '') return settings;
  let found: unknown = settings;
  for (const name of section.split('.')) {
    const isObject = typeof found === 'object' && found !== null;
    found = isObject && Object.hasOwn(found as object, name) ? (found as Record<string, unknown>)[name] : undefined;
  }
  return found ?? null;
}
