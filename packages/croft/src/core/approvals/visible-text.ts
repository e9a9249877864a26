import { cutText } from '../../lib/text/cut-text.ts';

/**
 * Controls, bidirectional overrides, zero-width and tag characters, halves of characters and other ends of line than line
 * feed, which stays, as tab does.
 */
const hidden = /[^\P{C}\n\t]|\p{Default_Ignorable_Code_Point}|[\p{Zl}\p{Zp}]/gu;

/**
 * What a person is asked to agree to, with everything in it that a terminal or a page would act on or not show spelled
 * out: `<U+202E>`. Taking it out would not do, because what a shell runs of `\x1b];rm -rf ~;\x07` is in the very part
 * that would be taken out.
 */
export function toVisible(text: string): string {
  return text.replace(hidden, spellOut);
}

function spellOut(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** Says first that there is more, because whoever reads the first lines only must know it too. */
export function cutVisible(text: string, maxChars: number): string {
  const visible = toVisible(cutText(text, maxChars));
  const shown = cutText(visible, maxChars);
  if (text.length <= maxChars && visible.length <= maxChars) return shown;
  return `(This is only the first part: it has ${text.length} characters in all.)\n${shown}`;
}
