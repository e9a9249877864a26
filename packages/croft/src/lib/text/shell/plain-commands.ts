const maxLine = 4000;

/**
 * Splits a shell line into commands, each as its words. Commands that need a shell, with a variable, a substitution or
 * a redirection, are left out.
 */
export function toPlainCommands(line: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let isPlain = true;
  const end = () => {
    if (isPlain && words.length > 0) commands.push(words);
    words = [];
    isPlain = true;
  };
  // Matches an operator, a quoted or unquoted part, or space; a stray quote is a part of its own.
  for (const [part] of line
    .slice(0, maxLine)
    .replaceAll('\\\n', ' ')
    .matchAll(/[;&|\n]+|(?:'[^']*'|"[^"]*"|[^\s;&|'"]|['"])+|\s/g)) {
    if (/^[;&|\n]/.test(part)) end();
    else if (needsShell(part)) isPlain = false;
    else if (part.trim() !== '') words.push(withoutQuotes(part));
  }
  end();
  return commands;
}

/** Returns the words of a line that a shell would replace by file names. */
export function findShellPatterns(line: string): Set<string> {
  const words = line.slice(0, maxLine).match(/(?:'[^']*'|"[^"]*"|[^\s;&|'"])+/g) ?? [];
  const isPattern = (word: string) => /[*?[]/.test(word.replace(/'[^']*'|"[^"]*"/g, ''));
  return new Set(words.filter(isPattern).map(withoutQuotes));
}

function withoutQuotes(word: string): string {
  return word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2');
}

function needsShell(part: string): boolean {
  const unquoted = part.replace(/'[^']*'/g, '');
  return /[$`\\]/.test(unquoted) || /[<>()'"]/.test(unquoted.replace(/"[^"]*"/g, ''));
}
