const maxFieldLength = 80;

/**
 * Arguments whose values are safe to show. Any other text may be the content of a file, or something a person typed.
 */
const shownArguments = new Set([
  ...['tool', 'workspace', 'name', 'title', 'language', 'id', 'checkpoint', 'snapshot', 'cursor', 'shell_id'],
  ...['file_path', 'filePath', 'file', 'path', 'directory', 'from', 'to', 'pattern', 'glob', 'type', 'output_mode'],
  ...['command', 'cmd', 'args'],
]);

/** More than any tool takes. Further arguments are not listed. */
const maxFields = 50;
/**
 * Characters of a value that are redacted. Far more than are shown, so that a secret is never cut in half before
 * redaction.
 */
const maxRedactedLength = 20_000;

/**
 * Summarises the arguments of a call for an event. Paths, names and the first line of a command are redacted and then
 * cut short. Any other text is reduced to its length, a list or an object to its number of entries. No hashes: the hash
 * of a short secret reveals the secret.
 */
export function summarizeArguments(input: unknown, redact: (text: string) => string): Record<string, unknown> {
  if (typeof input !== 'object' || input === null) return {};
  const entries = Object.entries(input).slice(0, maxFields);
  return Object.fromEntries(entries.map(([name, value]) => [show(name, redact), toField(name, value, redact)]));
}

function toField(name: string, value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'string') return shownArguments.has(name) ? show(value, redact) : { characters: value.length };
  if (Array.isArray(value)) return shownArguments.has(name) ? show(toText(value), redact) : { items: value.length };
  return { fields: Object.keys(value ?? {}).length };
}

function toText(values: readonly unknown[]): string {
  const words = values.slice(0, maxFields).map((value) => (typeof value === 'string' ? value : '…'));
  return words.join(' ');
}

/** The arguments by which a person recognises a call, the clearest first. */
const titles = ['command', 'cmd', 'file_path', 'path', 'pattern', 'query', 'from', 'name', 'shell_id'];

/** The path, the pattern or the first line of the command of a call, as `summarizeArguments` shows it. */
export function titleOfCall(input: unknown, redact: (text: string) => string): string {
  if (typeof input !== 'object' || input === null) return '';
  const found = titles
    .map((name) => (input as Record<string, unknown>)[name])
    .find((value) => typeof value === 'string');
  return typeof found === 'string' ? show(found, redact) : '';
}

/** Shows the first line only: further lines of a command are often the content of a file that it writes. */
function show(whole: string, redact: (text: string) => string): string {
  const text = redact(whole.slice(0, maxRedactedLength));
  const [line = ''] = text.split('\n', 1);
  return line.length > maxFieldLength || line.length < text.length ? `${line.slice(0, maxFieldLength)}…` : text;
}
