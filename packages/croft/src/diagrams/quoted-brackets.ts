/** Brackets in quotes are text. The renderer would take them for shapes, so it gets letters of no alphabet instead. */
const brackets = '()[]{}|';
const firstStandIn = 0xe0a0;

export function hideQuotedBrackets(source: string): string {
  return source.replaceAll(/"[^"\n]*"/g, (quoted) =>
    quoted.replaceAll(/[()[\]{}|]/g, (letter) => String.fromCharCode(firstStandIn + brackets.indexOf(letter))),
  );
}

export function showQuotedBrackets(text: string): string {
  return text.replaceAll(/[\ue0a0-\ue0a6]/g, (letter) => brackets.charAt(letter.charCodeAt(0) - firstStandIn));
}
