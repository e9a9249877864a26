import { cutText } from '../../lib/text/cut-text.ts';

/**
 * Matches control characters, bidirectional overrides, zero-width and tag characters, lone surrogates, and line
 * separators other than line feed. Line feed and tab are allowed.
 */
const hidden = /[^\P{C}\n\t]|\p{Default_Ignorable_Code_Point}|[\p{Zl}\p{Zp}]/gu;

/**
 * Makes hidden characters visible in a text that a person has to approve: every character that a terminal or a page
 * would act on or not show is written as `<U+202E>`. Removing them is not enough: what a shell runs of `\x1b];rm -rf
 * ~;\x07` is in the very part that would be removed.
 */
export function toVisible(text: string): string {
  return text.replace(hidden, spellOut);
}

function spellOut(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Shortens a visible text. Says so at the top, for a person who reads only the first lines. */
export function cutVisible(text: string, maxChars: number): string {
  const visible = toVisible(cutText(text, maxChars));
  const shown = cutText(visible, maxChars);
  if (text.length <= maxChars && visible.length <= maxChars) return shown;
  return `(This is only the first part: it has ${text.length} characters in all.)\n${shown}`;
}
