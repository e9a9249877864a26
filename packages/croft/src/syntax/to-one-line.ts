const maxLength = 200;

/** Returns a text on one line, cut to 200 characters. */
export function toOneLine(text: string): string {
  const line = text
    .slice(0, maxLength * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1).toWellFormed()}…` : line;
}

/** Returns the first line of a doc comment or docstring that says something, without the signs around it. */
export function toDocLine(comment: string): string {
  const lines = comment
    .slice(0, maxLength * 4)
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:\/\*+!?|\/{2,}!?|#+|--+|\*+(?!\/)|[a-zA-Z]{0,2}"""|[a-zA-Z]{0,2}'''|["'])\s?/, '')
        .replace(/\s*(?:\*+\/|"""|'''|["'])\s*$/, ''),
    );
  return toOneLine(lines.find((line) => line.trim() !== '') ?? '');
}
