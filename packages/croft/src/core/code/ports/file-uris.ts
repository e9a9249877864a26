/** The URI of a file of the workspace. */
export function toUri(root: string, path: string): string {
  const whole = path === '' ? root : `${root}/${path}`;
  return `file://${whole.split('/').map(encodeURIComponent).join('/')}`;
}

/** The target of a URI: a path of the workspace, from its root, or another path of the sandbox. */
type UriTarget = { readonly path: string } | { readonly external: string };

/** Converts a URI to a path. Returns `undefined` if the URI names no file, or a name that cannot be written. */
export function fromUri(root: string, uri: string): UriTarget | undefined {
  const encoded = /^file:\/\/(\/[^?#]*)$/.exec(uri)?.[1];
  const absolute = encoded === undefined ? undefined : decode(encoded);
  if (absolute === undefined || absolute.includes('\0')) return undefined;
  const names = absolute.split('/').slice(1);
  if (names.some((name) => name === '..' || name === '.' || name === '')) return undefined;
  return absolute.startsWith(`${root}/`) ? { path: absolute.slice(root.length + 1) } : { external: absolute };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
