import { createCharClass } from './char-class.ts';

/** Characters that are measured: the beginning of a long secret is enough to recognise it. */
const maxChars = 128;

const isJoint = createCharClass('.,:;_/+= \\-');

const joint = 0;
const lower = 1;
const upper = 2;
const digit = 3;
const symbol = 4;

/**
 * Measures how often a text changes between lower case, upper case, digits and symbols. Words joined by capitals,
 * digits or punctuation change seldom; generated values change all the time.
 */
export function measureRandomness(text: string): { changes: number; changesPerChar: number } {
  const length = Math.min(text.length, maxChars);
  let previous = joint;
  let changes = 0;
  for (let at = 0; at < length; at++) {
    const kind = kindOf(text.charCodeAt(at));
    if (isChange(previous, kind)) changes++;
    previous = kind;
  }
  return { changes, changesPerChar: changes / Math.max(1, length) };
}

/** A capital before lower case is no change, and counting restarts after a joint such as `.`, `_`, `-` or `/`. */
function isChange(previous: number, kind: number): boolean {
  if (previous === joint || kind === joint || previous === kind) return false;
  return previous !== upper || kind !== lower;
}

function kindOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return lower;
  if (code >= 0x41 && code <= 0x5a) return upper;
  if (code >= 0x30 && code <= 0x39) return digit;
  return isJoint(code) ? joint : symbol;
}
