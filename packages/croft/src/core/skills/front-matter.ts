/** The header of a Markdown file. */
interface FrontMatter {
  /** Values by key, in lower case. A list is one value with commas. */
  readonly values: ReadonlyMap<string, string>;
  /** The text after the front matter. */
  readonly body: string;
}

/** A longer header is not front matter. */
const maxLines = 300;
/** Limit per value: more does not help to choose. */
const maxValue = 1500;

/**
 * Reads the few forms of YAML that front matter uses: plain and quoted values, `>` and `|` blocks, lists. Everything
 * else is skipped. Anybody may have written the file: reading it takes time in proportion to its length.
 */
export function readFrontMatter(text: string): FrontMatter | undefined {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/, maxLines + 1);
  if (lines[0]?.trimEnd() !== '---') return undefined;
  const end = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return undefined;
  return { values: readValues(lines.slice(1, end)), body: bodyAfter(text, end + 1) };
}

function readValues(lines: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  lines.forEach((line, index) => {
    const [, key, written = ''] = /^([A-Za-z][\w-]{0,63})[ \t]*:(?:[ \t]+(.*))?$/.exec(line) ?? [];
    if (key === undefined || values.has(key.toLowerCase())) return;
    values.set(key.toLowerCase(), readValue(written.trim(), lines.slice(index + 1)).slice(0, maxValue));
  });
  return values;
}

function readValue(written: string, following: readonly string[]): string {
  const isBlock = /^[|>][-+]?\d?$/.test(written);
  if (!isBlock && written !== '' && !written.startsWith('#')) return readInline(written);
  const end = following.findIndex((line) => line !== '' && !/^([ \t]|- )/.test(line));
  const block = (end < 0 ? following : following.slice(0, end)).map((line) => line.trim());
  if (isBlock) return block.join(written.startsWith('|') ? '\n' : ' ').trim();
  return block.flatMap((line) => (line.startsWith('- ') ? [readInline(line.slice(2).trim())] : [])).join(', ');
}

function readInline(written: string): string {
  const list = /^\[(.*)\]$/.exec(written)?.[1];
  if (list !== undefined)
    return list
      .split(',')
      .map((item) => readScalar(item.trim()))
      .join(', ');
  return readScalar(written);
}

function readScalar(written: string): string {
  const [quote] = written;
  if (quote !== '"' && quote !== "'") return written.replace(/\s#.*$/, '').trim();
  const end = written.lastIndexOf(quote);
  const inner = written.slice(1, end > 0 ? end : undefined);
  return quote === "'" ? inner.replaceAll("''", "'") : inner.replace(/\\(["\\/])/g, '$1').replaceAll('\\n', '\n');
}

function bodyAfter(text: string, lines: number): string {
  let at = 0;
  for (let line = 0; line < lines && at >= 0; line++) at = text.indexOf('\n', at) + 1 || -1;
  return at < 0 ? '' : text.slice(at);
}
