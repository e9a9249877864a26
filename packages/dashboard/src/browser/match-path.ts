/** Fills the names of a pattern such as `/workspaces/:id/files`. */
export function matchPath(pattern: string, actual: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), actual.replace(/(.)\/$/, '$1').split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return undefined;
      continue;
    }
    const decoded = decode(text);
    if (decoded === undefined || decoded === '') return undefined;
    params[part.slice(1)] = decoded;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
