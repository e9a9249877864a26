/** A piece of a text: as it is, or a character that a person would not see, by a mark. */
interface MarkedPiece {
  readonly text: string;
  /** Name of the hidden character, for people. Absent for visible text. */
  readonly meaning?: string;
}

const controlNames = [
  ...['NUL', 'SOH', 'STX', 'ETX', 'EOT', 'ENQ', 'ACK', 'BEL', 'BS', 'TAB', 'LF', 'VT', 'FF', 'CR', 'SO', 'SI', 'DLE'],
  ...['DC1', 'DC2', 'DC3', 'DC4', 'NAK', 'SYN', 'ETB', 'CAN', 'EM', 'SUB', 'ESC', 'FS', 'GS', 'RS', 'US'],
];

const formatNames: Readonly<Record<number, string>> = {
  173: 'soft hyphen',
  1564: 'Arabic letter mark',
  6158: 'Mongolian vowel separator',
  8203: 'zero-width space',
  8204: 'zero-width non-joiner',
  8205: 'zero-width joiner',
  8206: 'left-to-right mark',
  8207: 'right-to-left mark',
  8232: 'line separator',
  8233: 'paragraph separator',
  8234: 'left-to-right embedding',
  8235: 'right-to-left embedding',
  8236: 'end of direction',
  8237: 'left-to-right override',
  8238: 'right-to-left override',
  8288: 'word joiner',
  8294: 'left-to-right isolate',
  8295: 'right-to-left isolate',
  8296: 'first strong isolate',
  8297: 'end of isolate',
  65279: 'byte order mark',
};

/** Everything that a browser acts on or does not show, as the server finds it too, and spaces that look like others. */
const unseen = /[^\P{C}\n\t]|\p{Default_Ignorable_Code_Point}|[\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

export function hasUnseen(text: string): boolean {
  return text.search(unseen) >= 0;
}

/** A carriage return before a line feed is a line end of Windows: it is marked too, because a shell runs it. */
export function toMarkedPieces(text: string): MarkedPiece[] {
  const pieces: MarkedPiece[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(unseen)) {
    if (index > end) pieces.push({ text: text.slice(end, index) });
    pieces.push(toMark(character));
    end = index + character.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}

/** Marks the hidden characters of a text in which the server has written them as `<U+202E>`. */
export function toSpeltPieces(text: string): MarkedPiece[] {
  return text.split(/(<U\+[0-9A-F]{4,6}>)/).flatMap((part, index) => {
    if (index % 2 === 0) return toMarkedPieces(part);
    return [toMark(String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(part.slice(3, -1), 16))))];
  });
}

function toMark(character: string): MarkedPiece {
  const code = character.codePointAt(0) ?? 0;
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const control = controlNames[code];
  if (control !== undefined) return { text: control, meaning: `${hex}, control character` };
  const name = formatNames[code];
  return { text: hex, meaning: name ?? 'a character that cannot be seen' };
}

/** Cuts a text to one line for a list. Line feeds become marks. */
export function toOneLine(text: string, most = 300): string {
  const line = text.length > most ? `${text.slice(0, most)}…` : text;
  return line.replaceAll(/\s*\n\s*/g, ' ⏎ ');
}
