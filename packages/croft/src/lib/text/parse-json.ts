/** Parses JSON. Returns `undefined` for a text that is not JSON, which no JSON text means. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
