/** One setting of a git configuration file. */
export interface GitSetting {
  /** Lower case, with `*` for a subsection: `core.hookspath`, `includeif.*.path`. */
  readonly key: string;
  readonly value: string;
}

interface Cursor {
  readonly text: string;
  at: number;
}

const header = /\[([^\]\s".]*)([^\]\s"]*)(?:[ \t]*"(?:\\.|[^"\\\n])*"?)?[^\]\n]*\]?/y;
const keyAndSign = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)/y;
const restOfLine = /[^\n]*/y;

/**
 * Parses the settings of a git configuration file, in order. Continues after syntax errors at which git would stop,
 * because callers need every path that the file may point to. Takes linear time.
 */
export function readGitSettings(text: string): GitSetting[] {
  const cursor: Cursor = { text: text.replaceAll('\r\n', '\n'), at: 0 };
  const settings: GitSetting[] = [];
  let section = '';
  while (cursor.at < cursor.text.length) {
    const char = cursor.text[cursor.at] ?? '';
    if (char === '#' || char === ';') take(cursor, restOfLine);
    else if (char === '[') section = readSection(cursor);
    else if (/[A-Za-z]/.test(char)) settings.push(readSetting(cursor, section));
    else cursor.at += 1;
  }
  return settings;
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  cursor.at += Math.max(found?.[0].length ?? 0, 0);
  return found;
}

/** Reads `[section "sub"]`, or `[section.sub]` as older versions wrote it. */
function readSection(cursor: Cursor): string {
  const [whole = '', name = '', dotted = ''] = take(cursor, header) ?? [];
  return name.toLowerCase() + (dotted !== '' || whole.includes('"') ? '.*' : '');
}

function readSetting(cursor: Cursor, section: string): GitSetting {
  const [, name = '', sign = ''] = take(cursor, keyAndSign) ?? [];
  const value = sign === '=' ? readValue(cursor) : '';
  if (sign !== '=') take(cursor, restOfLine);
  return { key: `${section}.${name.toLowerCase()}`, value };
}

const piece = /(?<space>[^\S\n]+)|"(?<quoted>(?:\\[\s\S]|[^"\\\n])*)"?|(?<bare>(?:\\[\s\S]|[^\s"#;\\])+)/y;
const escapes: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', '\n': '' };

/** Quotes may begin and end anywhere; spaces count only between other characters; a backslash continues a line. */
function readValue(cursor: Cursor): string {
  let [value, space] = ['', ''];
  for (;;) {
    const found = take(cursor, piece)?.groups;
    if (!found) break;
    const text = found.quoted ?? found.bare;
    if (text === undefined) space = value === '' ? '' : ' '.repeat(found.space?.length ?? 0);
    else [value, space] = [value + space + unescapeValue(text), ''];
  }
  take(cursor, restOfLine);
  return value;
}

function unescapeValue(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, char: string) => escapes[char] ?? char);
}
