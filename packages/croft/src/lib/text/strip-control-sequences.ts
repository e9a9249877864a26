interface ControlStripper {
  /** Returns the plain text in `chunk` and in the unfinished rest of earlier chunks. */
  (chunk: string): string;
  /**
   * Ends the stream: a pending CR becomes LF, an open sequence is dropped. The stripper can then be used for a new
   * stream.
   */
  flush(): string;
}

type State = 'text' | 'return' | 'escape' | 'intermediate' | 'csi' | 'eight-bit-csi' | 'string' | 'string-escape';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const escapeCode = 0x1b;
const eightBitCsi = 0x9b;

/** The same set as `isPlain`, as an expression that passes most chunks several times as fast. */
const notPlain = /[^\t\n -~\xa0-\u2029\u202f-\u2065\u206a-\uffff]/;

/**
 * Longer than any title or link and most pictures. A limit, so that an unterminated string does not swallow all later
 * output.
 */
const maxStringChars = 1024 * 1024;

/**
 * Creates a function that reduces terminal output to its text: no CSI, OSC, DCS, APC, PM, SOS or other escape sequence,
 * no C0 but LF and TAB, no DEL, no C1, no bidirectional embedding, override or isolate. CR and CRLF become LF.
 *
 * The end of a chunk may cut a sequence anywhere. A control string ends at BEL, ST, CAN or SUB, and unless it is a DCS
 * also at the end of the line: otherwise a binary file on the terminal would hide the output after it.
 */
export function createControlStripper(): ControlStripper {
  let state: State = 'text';
  let isDeviceString = false;
  let stringChars = 0;
  let plainText = '';

  /** One step per state: each takes the text and a position, and returns the position to continue at. */
  const steps: Record<State, (text: string, at: number) => number> = {
    text(text, at) {
      const end = plainEnd(text, at);
      plainText += text.slice(at, end);
      state = afterControl(text.charCodeAt(end));
      return end + 1;
    },
    return(text, at) {
      plainText += '\n';
      state = 'text';
      return text.charCodeAt(at) === lineFeed ? at + 1 : at;
    },
    escape(text, at) {
      const code = text.charCodeAt(at);
      if (code === escapeCode) return at + 1;
      state = afterEscape(code);
      isDeviceString = text[at] === 'P';
      stringChars = 0;
      return isSequenceChar(code) ? at + 1 : at;
    },
    intermediate: (text, at) => endSequence(text, skip(text, at, isIntermediate)),
    csi: (text, at) => endSequence(text, skip(text, at, isParameter)),
    'eight-bit-csi'(text, at) {
      // Without a parameter it is more likely a character that was encoded twice, such as a Polish letter.
      state = isDigitLike(text.charCodeAt(at)) ? 'csi' : 'text';
      return at;
    },
    string(text, at) {
      const limit = Math.min(text.length, at + maxStringChars - stringChars);
      const end = stringEnd(text, at, limit, isDeviceString);
      stringChars += end - at;
      if (end === text.length && stringChars < maxStringChars) return end;
      const code = end < limit ? text.charCodeAt(end) : lineFeed;
      state = code === escapeCode ? 'string-escape' : 'text';
      return code === lineFeed ? end : end + 1;
    },
    'string-escape'(text, at) {
      const isEnd = text[at] === '\\';
      state = isEnd ? 'text' : 'escape';
      return isEnd ? at + 1 : at;
    },
  };

  return Object.assign(strip, { flush });

  function strip(chunk: string): string {
    if (state === 'text' && !notPlain.test(chunk)) return chunk;
    plainText = '';
    for (let at = 0; at < chunk.length; ) at = steps[state](chunk, at);
    return plainText;
  }

  function flush(): string {
    const rest = state === 'return' ? '\n' : '';
    state = 'text';
    return rest;
  }

  function endSequence(text: string, at: number): number {
    if (at === text.length) return at;
    state = 'text';
    // Any other than a final character aborts the sequence and is read as text.
    return isFinal(text.charCodeAt(at)) ? at + 1 : at;
  }
}

/** Strips a complete text. */
export function stripControlSequences(text: string): string {
  const strip = createControlStripper();
  return strip(text) + strip.flush();
}

function afterControl(code: number): State {
  if (code === carriageReturn) return 'return';
  if (code === escapeCode) return 'escape';
  return code === eightBitCsi ? 'eight-bit-csi' : 'text';
}

function afterEscape(code: number): State {
  const char = String.fromCharCode(code);
  if (char === '[') return 'csi';
  if (']PX^_'.includes(char)) return 'string';
  return isIntermediate(code) ? 'intermediate' : 'text';
}

function plainEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && isPlain(text.charCodeAt(at))) at++;
  return at;
}

function isPlain(code: number): boolean {
  if (code < 0x7f) return code >= 0x20 || code === lineFeed || code === 0x09;
  return code > 0x9f && !isDirectional(code);
}

function isDirectional(code: number): boolean {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

function stringEnd(text: string, from: number, limit: number, isDeviceString: boolean): number {
  let at = from;
  while (at < limit && !endsString(text.charCodeAt(at), isDeviceString)) at++;
  return at;
}

function endsString(code: number, isDeviceString: boolean): boolean {
  if (code === lineFeed) return !isDeviceString;
  return code === 0x07 || code === 0x18 || code === 0x1a || code === escapeCode || code === 0x9c;
}

function skip(text: string, from: number, isPart: (code: number) => boolean): number {
  let at = from;
  while (at < text.length && isPart(text.charCodeAt(at))) at++;
  return at;
}

function isIntermediate(code: number): boolean {
  return code >= 0x20 && code <= 0x2f;
}

function isDigitLike(code: number): boolean {
  return code >= 0x30 && code <= 0x3f;
}

function isParameter(code: number): boolean {
  return isIntermediate(code) || isDigitLike(code);
}

function isFinal(code: number): boolean {
  return code >= 0x30 && code <= 0x7e;
}

function isSequenceChar(code: number): boolean {
  return code >= 0x20 && code <= 0x7e;
}
